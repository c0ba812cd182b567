/** The checkpoint of a long training: every list in it is about as long as the groups of the run are many. */
import type { Checkpoint } from '../../src/features/runs/checkpoint/document.ts'
import { POSITIONS_PER_CHUNK } from '../../src/features/runs/sequence/issued-items.ts'

const TASKS = ['chain_sum', 'gcd', 'leg_counting']
const GROUPS_PER_STEP = 10
const ROLLOUTS = 6
/** Number of lengths and rewards that occur, as a policy with long answers has them. */
const BINS = 10

/** Returns `empty`, the checkpoint of a new run, as it would be after so many groups, all of which are leased again. */
export function buildLargeCheckpoint(empty: Checkpoint, groups: number): Checkpoint {
  const now = Date.now()
  const each = <T>(count: number, build: (k: number) => T) => Array.from({ length: count }, (_, k) => build(k))
  const taskOf = (k: number) => TASKS[k % TASKS.length] ?? ''
  const steps = groups / GROUPS_PER_STEP
  return {
    ...empty,
    counters: {
      ...empty.counters,
      items: groups,
      groups,
      rollouts: groups * ROLLOUTS,
      completed: groups,
      step: steps - 1,
    },
    curriculum_history: each(groups, (k) => ({
      time: new Date(now - (groups - k) * 1000).toISOString(),
      step: Math.floor(k / GROUPS_PER_STEP),
      task: taskOf(k),
      score: 0.5,
      difficulty: 0.3,
      accuracy: 0.5,
    })),
    sequence: {
      ...empty.sequence,
      position: groups,
      open: [],
      leases: each(groups, (k) => ({ position: k, until: now + 3_600_000 + k, task: taskOf(k), difficulty: 0.3 })),
      questions: Object.fromEntries(each(groups, (k) => [k.toString(36).padStart(11, '0'), k])),
      issued: {
        tasks: TASKS,
        difficulties: [0.3],
        chunks: each(Math.ceil(groups / POSITIONS_PER_CHUNK), (chunk) => {
          const first = chunk * POSITIONS_PER_CHUNK
          const size = Math.min(POSITIONS_PER_CHUNK, groups - first)
          return { first, tasks: each(size, (k) => (first + k) % TASKS.length), difficulties: each(size, () => 0) }
        }),
      },
      steps: each(steps, (step) => ({ step, positions: [[step * GROUPS_PER_STEP, GROUPS_PER_STEP]] })),
    },
    step_sums: each(steps, (step) => ({ step, sums: sumStep() })),
  }
}

function sumStep(): Checkpoint['step_sums'][number]['sums'] {
  const count = GROUPS_PER_STEP * ROLLOUTS
  const byTask = (value: number) => Object.fromEntries(TASKS.map((task) => [task, value]))
  const bins = Object.fromEntries(Array.from({ length: BINS }, (_, k) => [k, 4]))
  return {
    groups: GROUPS_PER_STEP,
    rollouts: count,
    scored: count,
    score: count / 2,
    reward: count / 2,
    reward_squares: count / 2,
    correct: count / 2,
    signal: GROUPS_PER_STEP,
    length_count: count,
    length_sum: count * 700,
    task_scored: byTask(count / 3),
    task_reward: byTask(count / 6),
    task_score: byTask(count / 6),
    outcomes: { '3_of_6': GROUPS_PER_STEP },
    reward_bins: bins,
    correct_lengths: bins,
    wrong_lengths: bins,
    task_difficulty: byTask(1),
    task_difficulty_count: byTask(3),
  }
}
