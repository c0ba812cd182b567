/**
 * The trainer of a demo. It does what a trainer does, with the same calls: it requests items, posts groups of completions, and
 * takes and acknowledges the batch of each step. Only the model is simulated.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { generateLearnerCompletion } from '@reasoning-gym-server/mock-model/learner'
import pMap from 'p-map'
import { DemoCallError, type DemoServer } from './demo-server.ts'

/** Tasks of six categories, whose items take milliseconds to make and whose wrong answers are easy to read. */
export const DEMO_TASKS = [
  'chain_sum',
  'leg_counting',
  'spell_backward',
  'number_sorting',
  'caesar_cipher',
  'simple_equations',
  'mini_sudoku',
  'largest_island',
]
const GROUPS_PER_STEP = 12
const GROUP_SIZE = 8
const GROUPS_AT_ONCE = 4
const STEPS_PER_EVAL = 10
const WAIT_HEADERS = { prefer: 'wait=30' }
/** Short, because the group of a run that is deleted is never scored. The batch waits for groups that take longer. */
const GROUP_WAIT_HEADERS = { prefer: 'wait=5' }

export interface DemoOptions {
  run: string
  steps: number
  /** Tasks of the run. Default: DEMO_TASKS. */
  tasks?: readonly string[]
  /** Steps after which the learner has learned all that it can. Default: `steps`. */
  horizon?: number
  /** Minimum duration of a step, so that a demo can be watched and leaves room for other runs. */
  stepMs: number
  /** Whether the learner is also measured on a fixed suite at the beginning, every ten steps and at the end. */
  evals: boolean
  /** Groups of a step. */
  groups?: number
  /** Rollouts of a group, as the run is set. */
  groupSize?: number
  signal?: AbortSignal
}

export const DEMO_SETTINGS = {
  preset: 'clean',
  tasks: DEMO_TASKS,
  complexity_mode: 'frontier',
  group_size: GROUP_SIZE,
  batch_size: (GROUPS_PER_STEP - 2) * GROUP_SIZE,
}

/** Trains the learner on a run that exists, and resolves after the last step. */
export async function trainLearner(server: DemoServer, options: DemoOptions): Promise<void> {
  const { run, steps, tasks = DEMO_TASKS, horizon = steps, stepMs, evals, signal } = options
  const { groups = GROUPS_PER_STEP, groupSize = GROUP_SIZE } = options
  const measure = (step: number) =>
    evals ? measureLearner(server, { run, step, progress: getProgress(step, horizon), tasks }) : undefined
  let measuring = measure(0)
  for (let step = 0; step < steps; step++) {
    signal?.throwIfAborted()
    const started = performance.now()
    await trainStep(server, { run, step, progress: getProgress(step, horizon), groups, groupSize })
    if (step > 0 && step % STEPS_PER_EVAL === 0) {
      await measuring
      measuring = measure(step)
    }
    const rest = stepMs - (performance.now() - started)
    if (rest > 0) await sleep(rest, undefined, signal && { signal })
  }
  await measuring
  await measure(steps)
}

const getProgress = (step: number, horizon: number) => Math.min(1, step / Math.max(1, horizon - 1))

interface Step {
  run: string
  step: number
  progress: number
  groups: number
  groupSize: number
}

async function trainStep(server: DemoServer, now: Step): Promise<void> {
  const { run, step, groups } = now
  const answer = await server.call({ method: 'POST', path: '/items', body: { run, count: groups } })
  const { items } = answer as { items: { id: string }[] } // as declared
  await pMap(items, ({ id }) => postGroup(server, id, now), { concurrency: GROUPS_AT_ONCE })
  const batch = { step, final: true, policy_version: step }
  const composed = await server.call({
    method: 'POST',
    path: `/runs/${run}/batches`,
    body: batch,
    headers: WAIT_HEADERS,
  })
  if (composed !== undefined) await server.call({ method: 'POST', path: `/runs/${run}/batches/${step}/ack`, body: {} })
}

async function postGroup(server: DemoServer, itemId: string, { run, step, progress, groupSize }: Step): Promise<void> {
  const item = await server.lookUp(itemId)
  const rollouts = Array.from({ length: groupSize }, (_, k) => ({
    ...generateLearnerCompletion(item, k, progress),
    policy_version: step,
  }))
  await server.call({
    method: 'POST',
    path: '/rollouts',
    body: { run, item_id: itemId, rollouts },
    headers: GROUP_WAIT_HEADERS,
  })
}

const ITEMS_PER_TASK = 5
const DIFFICULTY = 0.4

interface Measurement {
  run: string
  step: number
  progress: number
  tasks: readonly string[]
}

/**
 * Posts the learner's completions to a new eval. The items are the same at every step, so that its learning curve is comparable.
 * Does nothing if the caller's key does not permit evals.
 */
async function measureLearner(server: DemoServer, measurement: Measurement): Promise<void> {
  const id = await startEval(server, measurement)
  if (id === undefined) return
  const { items } = (await server.call({ method: 'GET', path: `/eval/${id}/items` })) as {
    items: { sample_id: string; item_id: string }[] // as declared
  }
  const completions = await Promise.all(
    items.map(async ({ sample_id, item_id }) => {
      const item = await server.lookUp(item_id)
      return { sample_id, ...generateLearnerCompletion(item, 0, measurement.progress) }
    }),
  )
  await server.call({ method: 'POST', path: `/eval/${id}/completions`, body: { completions } })
}

async function startEval(server: DemoServer, { run, step, tasks }: Measurement): Promise<string | undefined> {
  const suite = { tasks, n: ITEMS_PER_TASK, difficulty: DIFFICULTY }
  const body = { model: null, suite, run, step, labels: { demo: run } }
  const started = await server.call({ method: 'POST', path: '/eval', body }).catch((error: unknown) => {
    if (error instanceof DemoCallError && error.status === 403) return undefined
    throw error
  })
  return (started as { id: string } | undefined)?.id // as declared
}
