/** What the most recent groups of a run show about its policy: whether it reads the question and earns its reward. */
import { z } from 'zod'
import { TaskName } from './recipe.ts'

const Count = z.int().min(0)

export const Diagnosis = z
  .strictObject({
    groups: Count.describe('Number of scored groups in the window, at most 50.'),
    questions: Count.describe(
      'Number of different questions in the window. `answer_entropy` and `top_answer` count each of them once.',
    ),
    answer_entropy: z
      .number()
      .nullable()
      .describe(
        'Entropy of the answers over different questions, in bits; 0 means the same answer to all questions. null without answers.',
      ),
    group_entropy: z
      .number()
      .nullable()
      .describe('Mean entropy of the answers within a group, in bits; null without answers.'),
    top_answer: z
      .strictObject({
        text: z.string().describe('First 28 bytes of the answer.'),
        share: z.number().describe('Share of the answers, in [0, 1].'),
      })
      .describe('Most common answer and its share.')
      .nullable()
      .describe('Most common answer over different questions; null without answers.'),
    constant_groups: z
      .number()
      .nullable()
      .describe('Share of groups in which all rollouts give the same answer; null without groups.'),
    mean_score: z.number().nullable().describe('Mean score of these groups; null without groups.'),
    guess_floor: z
      .number()
      .nullable()
      .describe('Mean score that guessing earns at the difficulties of these groups; null without a task card.'),
    lift: z
      .number()
      .nullable()
      .describe(
        'Floor-corrected mean score, (mean_score − guess_floor) / (1 − guess_floor): 0 for guessing, 1 if all answers are correct. null without a guess floor.',
      ),
    hack_gap: z
      .number()
      .nullable()
      .describe(
        'Mean of upstream score minus hardened score over a sample of answers: the part of the score that only reward hacks earn. null without a sample.',
      ),
    hack_gap_answers: Count.describe('Number of answers in the sample of `hack_gap`.'),
    permuted_score: z
      .number()
      .nullable()
      .describe(
        'Mean score of a sample of answers on another item of the same task: what answers earn without reading the question. null without a sample.',
      ),
    permuted_answers: Count.describe('Number of answers in the sample of `permuted_score`.'),
  })
  .meta({
    id: 'Diagnosis',
    description:
      'What the most recent groups show about the policy: whether it reads the question and earns its reward.',
  })
export type Diagnosis = z.infer<typeof Diagnosis>

export const RunWarning = z
  .strictObject({
    kind: z
      .enum(['collapsed', 'hack_gap', 'permuted'])
      .describe(
        '`collapsed`: most answers to different questions are the same; `hack_gap`: upstream scoring rewards answers that hardened scoring rejects; `permuted`: answers also score on other items.',
      ),
    task: TaskName,
    why: z.string().describe('Explanation in one sentence.'),
  })
  .meta({ id: 'RunWarning', description: 'A task whose reward may not be earned by solving it.' })
export type RunWarning = z.infer<typeof RunWarning>
