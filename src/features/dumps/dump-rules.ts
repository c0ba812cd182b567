/** Decides which groups are dumped. */

import type { DumpKind } from '@reasoning-gym-server/contract/dump'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import type { GroupResult } from '../../grading/group.ts'

export type DumpRules = Pick<RunSettings, 'dump_rollouts' | 'dump_failed_rollouts' | 'rollout_save_score_threshold'>

export type CountedVerdict = Extract<GroupVerdict, { status: 'scored' }>

/**
 * Whether a rollout is scored and not skipped for being short. Only these rollouts decide where a group goes, and only
 * these are dumped.
 */
export function isCounted(verdict: GroupVerdict): verdict is CountedVerdict {
  return verdict.status === 'scored' && verdict.skipped === undefined
}

/**
 * Selects the files that a group goes to. Failed groups are selected by scores: a penalty that removes the reward of a
 * correct answer is not a failure.
 */
export function selectDumpKinds({ status, verdicts }: GroupResult, rules: DumpRules): DumpKind[] {
  if (status !== 'scored') return []
  const counted = verdicts.filter(isCounted)
  const above = counted.some(({ reward }) => reward > rules.rollout_save_score_threshold)
  const failed = counted.length > 0 && counted.every(({ score }) => score === 0)
  const kinds: DumpKind[] = []
  if (rules.dump_rollouts === 'all' || (rules.dump_rollouts && above)) kinds.push('rollouts')
  if (rules.dump_failed_rollouts && failed) kinds.push('failed')
  return kinds
}
