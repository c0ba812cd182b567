/**
 * Substitute rewards: a sample that could not be scored gets the mean reward of its siblings, the other samples of its
 * item. The mean of the group stays as it is, and the advantage of the sample is 0. A reward of 0 would train the model
 * as if its answer were wrong.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { mean } from '../../grading/statistics.ts'
import type { ResolvedRun } from '../runs/types.ts'
import type { CallAssembly, GradedSample, SampleResult } from './samples.ts'
import { retryUntil } from './trainer-calls.ts'

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 1000

/** Mean rewards, keyed by item ID. */
type Means = ReadonlyMap<string | undefined, number>

/** Gives unscored results that have no substitute the mean of their item. */
export function substituteRewards(results: SampleResult[], means: Means): SampleResult[] {
  if (means.size === 0) return results
  return results.map((result) => {
    const { itemId, verdict, substitute } = result
    return verdict.status === 'scored' ? result : { ...result, substitute: substitute ?? means.get(itemId) }
  })
}

/** Mean rewards of the samples of a call. */
export function computeMeans(results: SampleResult[]): Means {
  if (results.every(({ verdict }) => verdict.status === 'scored')) return new Map() // no sample needs one
  const byItem = [...Map.groupBy(results, ({ itemId }) => itemId)]
  return toMeans(byItem.map(([itemId, group]) => [itemId, group.flatMap(({ verdict }) => verdict.reward ?? [])]))
}

function toMeans(rewards: [itemId: string | undefined, rewards: number[]][]): Means {
  return new Map(rewards.flatMap(([itemId, values]) => (values.length > 0 ? [[itemId, mean(values)] as const] : [])))
}

/**
 * Returns the mean rewards of the open groups in which the call has unscored samples. Waits until each group has a
 * scored sample or is complete, while the client waits. Returns undefined if the run has changed in the meantime.
 */
export async function awaitSiblings(
  assembly: CallAssembly,
  run: ResolvedRun,
  samples: readonly (GradedSample | undefined)[],
  { windowMs, groupSize, signal }: { windowMs: number; groupSize: number | undefined; signal: AbortSignal },
): Promise<Means | undefined> {
  const deadline = performance.now() + windowMs
  const size = groupSize ?? run.settings.group_size
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    const groups = [...(await retryUntil(deadline, () => assembly.readSiblings(run, samples), signal))]
    const isSettled = groups.every(([, { rewards, count }]) => rewards.length > 0 || count >= size)
    if (isSettled || performance.now() + pause > deadline)
      return toMeans(groups.map(([itemId, { rewards }]) => [itemId, rewards]))
    await sleep(pause, undefined, { signal }).catch(() => {
      throw new ServiceError(
        'server_busy',
        'The server closes while a sample waits for others of its item. Send it again.',
      )
    })
    // while it is recorded again, the sweep does not take the process for dead
    if (!(await retryUntil(deadline, () => assembly.record(run, samples), signal))) return undefined
  }
}
