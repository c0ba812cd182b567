/** From a scored group to its facts: what a batch is composed by, without reading a rollout. */
import type { GroupResult } from '../scoring/group.ts'
import type { GroupFacts, RolloutFacts } from '../words/batch.ts'
import type { GroupVerdict } from '../words/verdict.ts'
import type { About } from './payload.ts'

export function factsOf(
  id: string,
  task: string,
  { policy_version, rollouts }: About,
  { verdicts, signal }: GroupResult,
): GroupFacts {
  return {
    id,
    task,
    rollouts: verdicts.length,
    scored: verdicts.filter(({ status }) => status === 'scored').length,
    version: policy_version,
    signal: signal ?? false,
    each: verdicts.map((verdict, k) => {
      const { length, trained, finish_reason } = rollouts[k] ?? {}
      return rolloutFacts(verdict, length, trained, finish_reason === 'length')
    }),
  }
}

function rolloutFacts(
  verdict: GroupVerdict,
  length: number | undefined,
  trained: number | undefined,
  cut: boolean,
): RolloutFacts {
  const marks = [
    ...(verdict.skipped ? ['s'] : []),
    ...(verdict.masked ? ['m'] : []),
    ...(cut ? ['t'] : []),
    ...(verdict.status === 'scored' && verdict.fault ? [verdict.fault] : []),
  ]
  return [verdict.reward, verdict.score, length ?? null, trained ?? null, marks]
}
