/** The result for one completion: scored or unscored. */
import { z } from 'zod'
import { NullableNumber, NullableText } from './common.ts'

/** Lowest score that evals count as correct: some tasks give almost full marks for an answer in another notation. */
export const CORRECT_MIN_SCORE = 0.99

/** Whether a score counts as correct in an eval. Training has its own rule: TRAINING_CORRECT_THRESHOLD. */
export function isCorrect(score: number): boolean {
  return score >= CORRECT_MIN_SCORE
}

/** Whether the run's scoring counts an answer as right that hardened scoring rejects. `hardened` is null or missing if unscored. */
export function isPaidNotRight(score: number | null, hardened: number | null | undefined): boolean {
  return score !== null && isCorrect(score) && typeof hardened === 'number' && !isCorrect(hardened)
}

export const Extraction = z.enum(['strict', 'last_tag', 'tag_or_boxed', 'bare']).meta({
  id: 'Extraction',
  description:
    'How the answer is extracted from a completion. `strict`: exactly one `<answer>…</answer>` outside the thinking; `last_tag`: the last one; `tag_or_boxed`: the last one, else the last `\\boxed{…}`; `bare`: the whole text.',
})
export type Extraction = z.infer<typeof Extraction>

export const Stop = z
  .literal('</answer>')
  .nullable()
  .describe(
    'Stop string that the inference server cuts off. An answer that is open at the end of a completion then counts as closed, unless `finish_reason` says that a token limit cut it off.',
  )

export const OpensThinking = z
  .boolean()
  .describe(
    'If true, the prompt ends with `<think>` (chat template), so that a completion begins inside of its thinking.',
  )

export const ScoringMode = z.enum(['upstream', 'hardened']).meta({
  id: 'ScoringMode',
  description:
    '`upstream` uses the library’s scores; `hardened` uses the same rules with their known reward hacks closed.',
})
export type ScoringMode = z.infer<typeof ScoringMode>

export const FormatFault = z
  .enum(['no_answer', 'many_answers', 'unclosed_answer', 'unclosed_think', 'answer_too_long', 'invalid_answer'])
  .meta({
    id: 'FormatFault',
    description:
      'Format fault of a completion. The model is at fault, so the completion is scored (an unreadable answer scores 0).',
  })
export type FormatFault = z.infer<typeof FormatFault>

export const UnscoredCode = z
  .enum([
    'scorer_timeout',
    'scorer_crashed',
    'scorer_out_of_memory',
    'engine_unavailable',
    'generation_failed',
    'no_right_answer',
  ])
  .meta({
    id: 'UnscoredCode',
    description: 'Why a completion could not be scored. The model is never at fault.',
  })
export type UnscoredCode = z.infer<typeof UnscoredCode>

export const FeedbackLevel = z.enum(['none', 'format', 'rule']).meta({
  id: 'FeedbackLevel',
  description:
    'Feedback on answers without the full score. `none`: no feedback; `format`: how the answer misses the form that the question asks for; `rule`: also the first broken rule that anyone can check with the question alone. It never depends on the reference answer.',
})
export type FeedbackLevel = z.infer<typeof FeedbackLevel>

const PlaceNumber = z.int().min(1).optional()

export const Feedback = z
  .strictObject({
    kind: z
      .enum(['format', 'rule', 'wrong'])
      .describe(
        '`format`: the answer lacks the form that the question asks for; `rule`: it breaks a rule of the question; `wrong`: only the reference answer can tell what is wrong, so nothing is said about it.',
      ),
    text: z.string().describe('What is wrong, in a sentence of at most 500 characters.'),
    where: z
      .strictObject({
        row: PlaceNumber.describe('Row of a grid.'),
        column: PlaceNumber.describe('Column of a grid.'),
        move: PlaceNumber.describe('Move, step, action or button press of a plan.'),
        item: PlaceNumber.describe('Part of a list or a text, such as a word, number or letter.'),
      })
      .meta({ id: 'FeedbackPlace', description: 'Place of the fault in the answer. All numbers count from 1.' })
      .optional()
      .describe('Place of the fault, if it has one.'),
  })
  .meta({
    id: 'Feedback',
    description: 'Why an answer does not have the full score, as far as the question alone can tell.',
  })
export type Feedback = z.infer<typeof Feedback>

/** Turns of one rollout that are graded. */
export const MAX_TRIES = 8

export const RetryPrompt = z
  .string()
  .max(10_000)
  .describe('Message to the model after a wrong try. `{feedback}` stands for the text of the feedback.')

const TurnVerdict = z
  .strictObject({
    score: z.number().describe('Score of the answer, in [0, 1].'),
    answer: NullableText.describe('Answer extracted from the turn; null if there is none.'),
    fault: FormatFault.nullable().describe('Format fault of the turn; null if there is none.'),
    feedback: Feedback.optional().describe('What is wrong, for the next turn of the model.'),
  })
  .meta({ id: 'TurnVerdict', description: 'Verdict of one turn of a rollout with several.' })

const RewardComponents = z
  .strictObject({
    correct: z.number().describe('The score.'),
    format: z
      .number()
      .describe('1, or 0 for a format fault. The reward leaves it out, because a format fault already scores 0.'),
    length_penalty: z.number().describe('What the length penalty changes: 0 or less.'),
    try_discount: z.number().describe('What the discount of later tries changes.'),
  })
  .meta({
    id: 'RewardComponents',
    description:
      'Parts of a reward, for trainers that normalize each part (GDPO): reward = correct + length_penalty + try_discount, up to rounding.',
  })

export const ScoredVerdict = z
  .strictObject({
    status: z.literal('scored').describe('The completion was scored.'),
    reward: z.number().describe('Reward to train on.'),
    score: z.number().describe('Score of the answer, in [0, 1].'),
    answer: NullableText.describe('Answer extracted from the completion; null if there is none.'),
    fault: FormatFault.nullable().describe('Format fault of the completion; null if there is none.'),
    components: RewardComponents,
    feedback: Feedback.optional().describe(
      'What is wrong, with `feedback` set to `format` or `rule`. Absent if the score is 1.',
    ),
    turns: z
      .array(TurnVerdict)
      .optional()
      .describe('Turns of a rollout with several, up to the one that decided: the first right one, else the last.'),
  })
  .meta({ id: 'ScoredVerdict', description: 'Verdict of a completion that was scored.' })

const UnscoredVerdict = z
  .strictObject({
    status: z.literal('unscored').describe('The completion could not be scored.'),
    reward: z.null().describe('Always null.'),
    score: z.null().describe('Always null.'),
    code: UnscoredCode,
    detail: z.string().describe('Reason in a sentence.'),
  })
  .meta({
    id: 'UnscoredVerdict',
    description:
      'Verdict of a completion that could not be scored. It carries no training signal; do not treat it as 0.',
  })

export const Verdict = z
  .discriminatedUnion('status', [ScoredVerdict, UnscoredVerdict])
  .meta({ id: 'Verdict', description: 'Result for one completion: scored or unscored.' })
export type Verdict = z.infer<typeof Verdict>

const groupVerdictFields = {
  skipped: z
    .literal('too_short')
    .optional()
    .describe('Set if the rollout has fewer trained tokens than `min_trained_tokens`.'),
  masked: z
    .literal(true)
    .optional()
    .describe('Set if the rollout was cut off at the token limit and carries no training signal.'),
  advantage: NullableNumber.describe(
    'Advantage of the rollout within its group: 0 for a skipped or masked rollout and for a single voter left; null if unscored.',
  ),
}

export const GroupVerdict = z
  .discriminatedUnion('status', [
    z
      .strictObject({ ...ScoredVerdict.shape, ...groupVerdictFields })
      .meta({ id: 'ScoredGroupVerdict', description: 'A scored rollout of a group.' }),
    z
      .strictObject({ ...UnscoredVerdict.shape, ...groupVerdictFields })
      .meta({ id: 'UnscoredGroupVerdict', description: 'A rollout of a group that could not be scored.' }),
  ])
  .meta({ id: 'GroupVerdict', description: 'Verdict of one rollout of a group, with its advantage.' })
export type GroupVerdict = z.infer<typeof GroupVerdict>
