/** `If-Match` and `If-None-Match` of calls that name a run. A run's entity tag is its incarnation. */
import { z } from 'zod'
import type { RunCondition } from '../contract/run-condition.ts'

const ENTITY_TAG = /^(?:"([^"]*)"|([\w-]+)|W\/"[^"]*")$/

/** `*` or entity tags; quotes may be missing. A weak tag equals none, as RFC 9110 says. */
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
    'Only for this incarnation of the run: its `ETag` in quotes, or `*` for any. If the run is another or gone: 412 `run_recreated`, and nothing is done',
  ),
}

export const ifNoneMatchHeader = {
  'if-none-match': z
    .literal('*', 'must be *')
    .optional()
    .describe('`*`: only creates the run. If there is one: 412 `run_exists`, and nothing is done'),
}

/** The run's identity, not its content: it stays the same while the run goes on, and a cache gets every answer in full. */
export function formatEntityTag(incarnation: string): string {
  return `"${incarnation}"`
}
