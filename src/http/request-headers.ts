/** Headers that several routes read: `Prefer: wait=N`, `Idempotency-Key`, and `If-Match` and `If-None-Match` of calls on a run. */
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import { z } from 'zod'

const ENTITY_TAG = /^(?:"([^"]*)"|([\w-]+)|W\/"[^"]*")$/

/** `*` or entity tags; quotes are optional. Weak tags never match (RFC 9110). */
const IfMatch = z.string().transform((text, context): RunCondition => {
  if (text.trim() === '*') return 'exists'
  return text.split(',').flatMap((part) => {
    const tag = ENTITY_TAG.exec(part.trim())
    if (!tag) context.addIssue({ code: 'custom', message: 'must be * or a list of entity tags such as "6f1c…"' })
    return tag?.[1] ?? tag?.[2] ?? []
  })
})

export const ifMatchHeader = {
  'if-match': IfMatch.optional().describe(
    '`ETag` of the run, in quotes, or `*` for any existing run. If the run was deleted or recreated, the call fails with 412 `run_recreated` and changes nothing.',
  ),
}

export const IfMatchHeaders = z.looseObject(ifMatchHeader)

export const ifNoneMatchHeader = {
  'if-none-match': z
    .literal('*', 'must be *')
    .optional()
    .describe(
      '`*`: only create the run. If a run of this name exists, the call fails with 412 `run_exists` and changes nothing.',
    ),
}

/** Identifies the run, not its content: the tag stays the same while the run continues, so it cannot validate caches. */
export function formatEntityTag(incarnation: string): string {
  return `"${incarnation}"`
}

const MAX_WAIT_S = 60

/** `Prefer: wait=N`, in milliseconds: how long to hold the response until it is ready; 0 if it is missing or invalid. */
export function parsePreferWaitMs(prefer: string | string[] | undefined): number {
  const seconds = /(?:^|[,;\s])wait\s*=\s*(\d{1,9})\s*(?:$|[,;])/i.exec([prefer].flat().join(','))?.[1]
  return seconds === undefined ? 0 : Math.min(Number(seconds), MAX_WAIT_S) * 1000
}

export const IdempotencyHeaders = z.looseObject({
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe(
      'Key of your choice that makes retries safe: a repeated request with the same key and body within an hour returns the first response and changes nothing. The same key with another body is rejected with 400 `invalid_request`.',
    ),
})
