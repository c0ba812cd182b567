/** What the last groups of a run say about its policy: does it still read the question, and is its reward earned? */
import { z } from 'zod'
import { TaskName } from './recipe.ts'

const Count = z.int().min(0)

export const Diagnosis = z
  .strictObject({
    groups: Count.describe('Scored groups in the window: the last 50, or fewer'),
    questions: Count.describe(
      'Different questions in the window. `answer_entropy` and `top_answer` count each of them once',
    ),
    answer_entropy: z
      .number()
      .nullable()
      .describe('Bits: entropy of the answers over different questions; 0 means one answer to all of them'),
    group_entropy: z.number().nullable().describe('Bits: mean entropy of the answers within a group'),
    top_answer: z
      .strictObject({ text: z.string().describe('Its first 28 bytes'), share: z.number() })
      .nullable()
      .describe('The most common answer over different questions'),
    constant_groups: z.number().nullable().describe('Share of groups whose rollouts all give one answer'),
    mean_score: z.number().nullable(),
    guess_floor: z
      .number()
      .nullable()
      .describe('What guessing earns at the difficulties of these groups; null without a task card'),
    lift: z
      .number()
      .nullable()
      .describe('(mean_score − guess_floor) / (1 − guess_floor): 0 is guessing, 1 is all correct'),
    hack_gap: z
      .number()
      .nullable()
      .describe(
        'Mean of upstream score minus hardened score over a sample of answers: what only upstream scoring pays',
      ),
    hack_gap_answers: Count.describe('Answers in that sample'),
    permuted_score: z
      .number()
      .nullable()
      .describe(
        'Mean score of a sample of answers on another item of the same task: what answers earn without reading the question',
      ),
    permuted_answers: Count.describe('Answers in that sample'),
  })
  .meta({ id: 'Diagnosis' })
export type Diagnosis = z.infer<typeof Diagnosis>

export const RunWarning = z
  .strictObject({
    kind: z
      .enum(['collapsed', 'hack_gap', 'permuted'])
      .describe(
        '`collapsed`: most answers to different questions are the same; `hack_gap`: upstream scoring pays what hardened scoring does not; `permuted`: answers also score on other items',
      ),
    task: TaskName,
    why: z.string().describe('One sentence'),
  })
  .meta({ id: 'RunWarning' })
export type RunWarning = z.infer<typeof RunWarning>
