/**
 * Warns about trainers that send single samples: if they do not send `group_size` of them for each item, or train on
 * many rewards that stand in for verdicts.
 */
import type { RunWarning } from '@reasoning-gym-server/contract/run'
import type { GroupSizes } from '../records.ts'

/** Closed groups that are enough for a warning. */
const MIN_GROUPS = 4
/** Share of substitute rewards that is tolerated. */
const MAX_SUBSTITUTED = 0.01

export function listSampleWarnings(sizes: GroupSizes, groupSize: number): RunWarning[] {
  const size = explainSentSize(sizes, groupSize) ?? explainClosings(sizes, groupSize)
  const substituted = explainSubstituted(sizes)
  return [
    ...(substituted === undefined ? [] : [{ kind: 'substituted_rewards', task: null, why: substituted } as const]),
    ...(size === undefined ? [] : [{ kind: 'group_size', task: null, why: size } as const]),
  ]
}

function explainSubstituted({ substituted = 0, samples = 0 }: GroupSizes): string | undefined {
  const sent = Math.max(samples, substituted)
  if (substituted <= MAX_SUBSTITUTED * sent) return undefined
  return `${substituted} of ${sent} samples could not be scored, and their trainer got substitute rewards: it trains on numbers that no verdict gave. \`rgs_unscored_total\` in \`GET /metrics\` counts the reasons.`
}

function explainSentSize({ sent_size: sent, sent_size_for: setting }: GroupSizes, groupSize: number) {
  if (sent === undefined || setting !== groupSize) return undefined
  return `${explainDifference(sent, groupSize)}: groups are closed at ${sent}. Set \`group_size\` to ${sent}, or say the right number in the reward URL with \`?n=\`.`
}

function explainClosings({ recent = '', recent_for: setting }: GroupSizes, groupSize: number): string | undefined {
  const closings = setting === groupSize && recent !== '' ? recent.split(' ') : []
  if (closings.length < MIN_GROUPS) return undefined
  const incomplete = closings.filter((closing) => closing !== 'full' && closing !== 'wide')
  if (2 * incomplete.length > closings.length)
    return `${explainDifference(findMostFrequent(incomplete), groupSize)}: ${incomplete.length} of the last ${closings.length} groups were closed incomplete.`
  const wide = closings.filter((closing) => closing === 'wide').length
  if (2 * wide <= closings.length) return undefined
  return `In ${wide} of the last ${closings.length} groups, samples came long after the others of their group: the trainer may not send ${groupSize} samples per item, which is \`group_size\`.`
}

function explainDifference(sent: number, groupSize: number): string {
  return `The trainer sends ${sent} ${sent === 1 ? 'sample' : 'samples'} per item, \`group_size\` is ${groupSize}`
}

function findMostFrequent(sizes: string[]): number {
  const [most] = [...Map.groupBy(sizes, Number)].toSorted(([, a], [, b]) => b.length - a.length)
  return most?.[0] ?? 0
}
