/**
 * Substitute rewards, for trainers without a mask: a sample that could not be scored gets the mean reward of its group
 * once the group is complete, so that its advantage is 0. If the group does not complete in time or has no reward, the
 * sample gets the mean reward of its task in the run so far. Until there is one, the call fails and is sent again. The
 * mean of an incomplete group would not do: after one wrong sibling it is 0, which trains the model as if the answer
 * were wrong.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { mean, meanOfSum } from '../../grading/statistics.ts'
import type { ResolvedRun } from '../runs/types.ts'
import { type CallAssembly, type GradedSample, isItemFault, type SampleResult } from './samples.ts'
import { retryUntil } from './trainer-calls.ts'

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 1000

/** Mean rewards of complete groups, keyed by item ID. */
type Means = ReadonlyMap<string | undefined, number>

/** Sums of the scored rollouts of a run, by task. */
type TaskSums = Readonly<Record<string, Readonly<Record<string, number>>>>

export function lacksReward({ verdict, substitute }: SampleResult): boolean {
  return verdict.status === 'unscored' && substitute === undefined
}

export function substituteGroupMeans(results: SampleResult[], means: Means): SampleResult[] {
  return results.map((result) => (lacksReward(result) ? { ...result, substitute: means.get(result.itemId) } : result))
}

/**
 * Gives the remaining unscored samples the mean reward of their task, or of all tasks if their item is unknown. A
 * sample that is itself damaged may also get the mean of the others in its call. Throws `server_busy` if there is no mean.
 */
export function substituteTaskMeans(results: SampleResult[], sums: TaskSums): SampleResult[] {
  const inCall = results.flatMap(({ verdict }) => verdict.reward ?? [])
  return results.map((result) => {
    if (!lacksReward(result)) return result
    const { verdict, recipe } = result
    const isDamaged = isItemFault(verdict) || (verdict.status === 'unscored' && verdict.code === 'generation_failed')
    const others = isDamaged && inCall.length > 0 ? mean(inCall) : undefined
    const substitute = computeTaskMean(sums, recipe?.task) ?? others
    if (substitute !== undefined) return { ...result, substitute }
    const reason = verdict.status === 'unscored' ? `${verdict.code}: ${verdict.detail}` : ''
    throw new ServiceError(
      'server_busy',
      `A sample could not be scored (${reason}), and no mean reward of its task in a run can stand in for it yet. Send the call again.`,
    )
  })
}

function computeTaskMean(sums: TaskSums, task: string | undefined): number | undefined {
  const wanted = task === undefined ? Object.values(sums) : [sums[task] ?? {}]
  const add = (field: string) => wanted.reduce((sum, fields) => sum + (fields[field] ?? 0), 0)
  return meanOfSum(add('reward'), add('scored')) ?? undefined
}

/**
 * Returns the mean rewards of the open groups in which the call has unscored samples, without those that were not
 * complete at the deadline. Returns undefined if the run has changed in the meantime.
 */
export async function awaitSiblings(
  assembly: CallAssembly,
  run: ResolvedRun,
  samples: readonly (GradedSample | undefined)[],
  { deadline, groupSize, signal }: { deadline: number; groupSize: number | undefined; signal: AbortSignal },
): Promise<Means | undefined> {
  const size = groupSize ?? run.settings.group_size
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    const groups = [...(await retryUntil(deadline, () => assembly.readSiblings(run, samples), signal))]
    const complete = groups.filter(([, { count }]) => count >= size)
    if (complete.length === groups.length || performance.now() + pause > deadline)
      return new Map(
        complete.flatMap(([itemId, { rewards }]) => (rewards.length > 0 ? [[itemId, mean(rewards)] as const] : [])),
      )
    await sleep(pause, undefined, { signal }).catch(() => {
      throw new ServiceError(
        'server_busy',
        'The server is shutting down while a sample waits for others of its item. Send it again.',
      )
    })
    // while it is recorded again, the sweep does not take the process for dead
    if (!(await retryUntil(deadline, () => assembly.record(run, samples), signal))) return undefined
  }
}
