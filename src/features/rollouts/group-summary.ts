/** Builds the summary of a scored group, from which batches are composed without reading a rollout. */

import type { GroupSummary, RolloutSummary } from '@reasoning-gym-server/contract/batch'
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import type { GroupResult } from '../../grading/group.ts'
import type { GroupMetadata } from './group-payload.ts'

export function buildGroupSummary(
  id: string,
  task: string,
  { policy_version, rollouts }: GroupMetadata,
  { verdicts, signal }: GroupResult,
): GroupSummary {
  return {
    id,
    task,
    scored: verdicts.filter(({ status }) => status === 'scored').length,
    policy_version,
    signal: signal ?? false,
    rollouts: verdicts.map((verdict, k) => {
      const { length, trained, finish_reason } = rollouts[k] ?? {}
      return buildRolloutSummary(verdict, length, trained, finish_reason === 'length')
    }),
  }
}

function buildRolloutSummary(
  verdict: GroupVerdict,
  length: number | undefined,
  trained: number | undefined,
  cut: boolean,
): RolloutSummary {
  const marks = [
    ...(verdict.skipped ? ['s'] : []),
    ...(verdict.masked ? ['m'] : []),
    ...(cut ? ['t'] : []),
    ...(verdict.status === 'scored' && verdict.fault ? [verdict.fault] : []),
  ]
  return [verdict.reward, verdict.score, length ?? null, trained ?? null, marks]
}
