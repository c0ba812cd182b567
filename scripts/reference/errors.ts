/** docs/reference/errors.md: every error code, from the table that HTTP answers with. */
import { STATUS_CODES } from 'node:http'
import { ERROR_TABLE } from '../../src/http/errors/error-table.ts'
import { formatTable } from './page-parts.ts'

const PAGE_HEAD = `# Errors

Every failed call returns a problem document (\`application/problem+json\`, RFC 9457). Branch on \`code\`, which is stable. \`detail\` says
what happened in this call and may change; \`errors\` lists the invalid fields, each with its \`path\` and a \`message\`.

\`\`\`json
{
  "type": "urn:reasoning-gym-server:invalid_request",
  "title": "The request does not have the documented shape",
  "status": 400,
  "code": "invalid_request",
  "detail": "group_size: must be at least 1, received 0",
  "errors": [{ "path": "group_size", "message": "must be at least 1, received 0" }]
}
\`\`\`

\`Retry-After\` is the number of seconds after which a retry makes sense. The server sends it with every 429 and 503, and with a 409
that a retry resolves. The tables show its default in parentheses; a response may give a different number. A retry never counts twice: groups have IDs,
and the calls that hand out items or start a job accept an \`Idempotency-Key\`.

A verdict with \`"status": "unscored"\` is not an error of the call: the response is a success, and the \`code\` of the verdict says
why this completion has no score.

`

export function buildErrorsPage(): string {
  const statuses = [...new Set(Object.values(ERROR_TABLE).map(({ status }) => status))].toSorted((a, b) => a - b)
  const sections = statuses.map((status) => {
    const rows = Object.entries(ERROR_TABLE)
      .filter(([, row]) => row.status === status)
      .map(([code, { title, remedy, retryAfter }]) => [
        `\`${code}\``,
        `${title}.`,
        retryAfter === undefined ? remedy : `${remedy} (${retryAfter} s)`,
      ])
    return `## ${status} ${STATUS_CODES[status] ?? ''}\n\n${formatTable(['code', 'meaning', 'what to do'], rows)}\n`
  })
  return `${PAGE_HEAD}${sections.join('\n')}`
}
