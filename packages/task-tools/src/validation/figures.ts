/** The figures of a task that a measurement gives, and that the server records in `validation.json`. */
import { z } from 'zod'

const Count = z.int().min(0)
const Answers = z.strictObject({ answers: Count, upstream: Count, hardened: Count })

export const MeasuredRung = z.strictObject({
  config: z.string().describe('Hash of the config'),
  items: Count,
  /** Items that came out different in another process. */
  different: Count,
  /** Items whose question contains the answer. */
  leaks: Count,
  /** Items with a known right answer. */
  answered: Count,
  /** Of these, the ones whose reference answer counts as correct. */
  right_upstream: Count,
  right_hardened: Count,
  /** Mean characters of question and answer. */
  size: z.number(),
  /** Of the items, the same on every machine. */
  digest: z.string(),
})
export type MeasuredRung = z.infer<typeof MeasuredRung>

export const MeasuredTask = z.strictObject({
  truth: z.strictObject({ reference: Answers, reworded: Answers, mutated: Answers, unsolved: Answers }),
  scores: z.strictObject({
    answers: Count,
    /** Scores outside [0, 1], or no number. */
    malformed: Count,
    /** Answers with another score the second time. */
    unstable: Count,
    /** Answers that the library scored otherwise in another process. */
    unportable: Count,
    /** Mean score of answers that solve nothing. */
    unsolved: z.strictObject({ upstream: z.number(), hardened: z.number() }),
    /** Mean time of a score under one scoring. */
    ms: z.number(),
  }),
  rungs: z.array(MeasuredRung),
})
export type MeasuredTask = z.infer<typeof MeasuredTask>
