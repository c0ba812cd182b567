/** The situations in which the rules are compared. */

export interface Scenario {
  name: string
  /** Undefined: the most signal. */
  target?: number
  /** Scores of a guess, dealt to the tasks in turn. */
  floors: readonly number[]
  rungs: { fewest: number; most: number }
  /** Groups of a task that are asked for before the first of them comes back. */
  inFlight: number
  /** Whether the learner gets better with what it is taught. */
  improves: boolean
  /** Standard deviation of a rung's own difficulty: above 0 the ladder is not monotone. */
  rungNoise: number
  /** What the frontier must reach, at most. */
  frontierLimits?: FrontierLimits
}

export interface FrontierLimits {
  settledMedian?: number
  settledP90?: number
  excessError?: number
  /** Where the first groups, asked for before any came back, weigh too much. */
  excessErrorSecondHalf?: number
  regret?: number
}

const PLAIN = { floors: [0], rungs: { fewest: 2, most: 23 }, inFlight: 1, improves: false, rungNoise: 0 } as const

export const SCENARIOS: readonly Scenario[] = [
  {
    ...PLAIN,
    name: 'standing still, target 0.7',
    target: 0.7,
    frontierLimits: { settledMedian: 1, settledP90: 6, excessError: 0.03 },
  },
  {
    ...PLAIN,
    name: 'standing still, target 0.7, ten groups in flight',
    target: 0.7,
    inFlight: 10,
    frontierLimits: { excessError: 0.04 },
  },
  { ...PLAIN, name: 'improving, most signal', improves: true },
  {
    ...PLAIN,
    name: 'improving, target 0.5, ten groups in flight',
    target: 0.5,
    inFlight: 10,
    improves: true,
    frontierLimits: { excessErrorSecondHalf: 0.04 },
  },
  {
    ...PLAIN,
    name: 'improving, floors of 0 to 0.7, most signal',
    floors: [0, 0.25, 0.5, 0.7],
    improves: true,
    frontierLimits: { regret: 0.05 },
  },
  { ...PLAIN, name: 'ladders of 2 to 6 rungs, most signal', rungs: { fewest: 2, most: 6 } },
  { ...PLAIN, name: 'rungs that are not monotone, most signal', rungNoise: 0.06 },
]
