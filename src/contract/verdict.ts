/** What became of a rollout: scored, or unscored. There is no third thing. */
import { z } from 'zod'

/** How the answer is read from a completion. */
export const Extraction = z.enum(['strict', 'last_tag', 'tag_or_boxed', 'bare']).meta({ id: 'Extraction' })
export type Extraction = z.infer<typeof Extraction>

/** Whose score counts: the library's, or the same with its holes closed. */
export const ScoringMode = z.enum(['upstream', 'hardened']).meta({ id: 'ScoringMode' })
export type ScoringMode = z.infer<typeof ScoringMode>

/** The model's fault; the score is 0. */
export const FormatErrorCode = z
  .enum(['no_answer', 'many_answers', 'unclosed_answer', 'unclosed_think', 'answer_too_long', 'invalid_answer'])
  .meta({ id: 'FormatErrorCode' })
export type FormatErrorCode = z.infer<typeof FormatErrorCode>

/** Why there is no score; never the model's fault. */
export const UnscoredCode = z
  .enum(['scorer_timeout', 'scorer_crashed', 'scorer_out_of_memory', 'engine_unavailable', 'generation_failed'])
  .meta({ id: 'UnscoredCode' })
export type UnscoredCode = z.infer<typeof UnscoredCode>

export const ScoredVerdict = z
  .strictObject({
    status: z.literal('scored'),
    reward: z.number().describe('What to train on'),
    score: z.number().describe('The library’s score, in [0, 1]'),
    answer: z.string().nullable(),
    fault: FormatErrorCode.nullable(),
    penalty: z.number().describe('score − reward'),
  })
  .meta({ id: 'ScoredVerdict' })

const UnscoredVerdict = z
  .strictObject({
    status: z.literal('unscored'),
    reward: z.null(),
    score: z.null(),
    code: UnscoredCode,
    detail: z.string(),
  })
  .meta({ id: 'UnscoredVerdict' })

export const Verdict = z.discriminatedUnion('status', [ScoredVerdict, UnscoredVerdict]).meta({ id: 'Verdict' })
export type Verdict = z.infer<typeof Verdict>

const groupVerdictFields = {
  skipped: z.literal('too_short').optional().describe('Fewer trained tokens than min_trained_tokens'),
  masked: z.literal(true).optional().describe('Cut by the token limit: carries no training signal'),
  advantage: z
    .number()
    .nullable()
    .describe('0 for a rollout that does not vote, and for a voter left alone; null if unscored'),
}

/** A verdict as it stands in a group. */
export const GroupVerdict = z
  .discriminatedUnion('status', [
    z.strictObject({ ...ScoredVerdict.shape, ...groupVerdictFields }),
    z.strictObject({ ...UnscoredVerdict.shape, ...groupVerdictFields }),
  ])
  .meta({ id: 'GroupVerdict' })
export type GroupVerdict = z.infer<typeof GroupVerdict>
