/** Sums up why samples have no score: equal reasons collapse, whatever request, sample or count of tokens they name. */

import { SampleFailure } from '@reasoning-gym-server/contract/generation-job'
import { z } from 'zod'

/** Number of reasons that a job counts separately. The others are summed. */
export const MAX_FAILURE_REASONS = 20
const MAX_REASON_CHARS = 300
const OTHER = { code: 'other', reason: 'Other reasons.' } as const

/** A reason as a job stores it. Failures with equal keys are the same failure. */
export const StoredFailure = z.strictObject({ ...SampleFailure.shape, key: z.string() })
export type StoredFailure = z.infer<typeof StoredFailure>

/** Why one sample has no score. */
export interface FailureCause {
  code: SampleFailure['code']
  detail: string
}

/** IDs that servers of models put into their messages: UUIDs, `req_…`, long hexadecimal numbers. */
const ID_PATTERN =
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?:req|request|chatcmpl|cmpl|trace|msg|gen)[-_][\w-]*\d[\w-]*|\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b/gi
/** Numbers that differ between samples. HTTP statuses, IP addresses and ports stay. */
const NUMBER_PATTERN = /(?<!HTTP |[\d.:])\d+(?:\.\d+)?(?![\d.:]*\d)/g

/** Counts one failure, for `mergeFailures` and the script `record-sample`. */
export function toStoredFailure({ code, detail }: FailureCause, count = 1): StoredFailure {
  const reason = detail.replace(ID_PATTERN, '…').replace(/\s+/g, ' ').trim().slice(0, MAX_REASON_CHARS).toWellFormed()
  return { code, reason, count, key: `${code} ${reason.replace(NUMBER_PATTERN, '#')}` }
}

/** Sums the causes by reason, most frequent first. */
export function countFailures(causes: readonly FailureCause[]): SampleFailure[] {
  return listFailures(mergeFailures(causes.map((cause) => toStoredFailure(cause))))
}

export function mergeFailures(failures: readonly StoredFailure[]): StoredFailure[] {
  const merged = new Map<string, StoredFailure>()
  for (const failure of failures) {
    const same = merged.get(failure.key)
    merged.set(failure.key, same ? { ...same, count: same.count + failure.count } : failure)
  }
  return [...merged.values()]
}

export function listFailures(stored: readonly StoredFailure[]): SampleFailure[] {
  const named = stored
    .filter(({ code }) => code !== OTHER.code)
    .map(({ code, reason, count }) => ({ code, reason, count }))
    .toSorted((a, b) => b.count - a.count)
  const rest = [...stored.filter(({ code }) => code === OTHER.code), ...named.slice(MAX_FAILURE_REASONS)]
  const others = rest.reduce((sum, { count }) => sum + count, 0)
  return [...named.slice(0, MAX_FAILURE_REASONS), ...(others > 0 ? [{ ...OTHER, count: others }] : [])]
}
