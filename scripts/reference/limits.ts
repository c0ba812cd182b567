/** docs/reference/limits.md: the limits on requests, and what happens above them. */
import { MAX_JSON_CONTAINERS, MAX_JSON_DEPTH, MAX_JSON_ENTRIES } from '../../src/http/bodies/json-limits.ts'
import { DEFAULT_HTTP_TIMEOUTS } from '../../src/http/connections/http-timeouts.ts'
import { DEFAULT_LIMITS_WITH_KEYS, EnvironmentSchema } from '../../src/platform/environment.ts'
import { formatTable } from './page-parts.ts'

const { headersMs, requestMs, keepAliveMs, inactivityMs } = DEFAULT_HTTP_TIMEOUTS
const DEFAULTS = EnvironmentSchema.parse({})
const formatCount = (value: number) => value.toLocaleString('en-US')
const formatSeconds = (ms: number) => `${ms / 1000} s`

/** Each limit, and what happens above it. Values that a setting changes are the defaults. */
const LIMITS: [what: string, limit: string, above: string][] = [
  [
    'Requests and body bytes of one key, per minute',
    `\`RATE_LIMIT\` (${formatCount(DEFAULT_LIMITS_WITH_KEYS.requests)}) and \`BYTE_RATE_LIMIT\` (${DEFAULT_LIMITS_WITH_KEYS.bytes / 1024 ** 3} GiB). Without keys, they count per address and are off unless set`,
    '429 `rate_limited`',
  ],
  [
    'Requests of one address without a valid key, per minute, if keys are configured. An IPv6 /64 network counts as one address',
    `\`ANONYMOUS_RATE_LIMIT\` (${formatCount(DEFAULTS.ANONYMOUS_RATE_LIMIT)})`,
    '429 `rate_limited`',
  ],
  [
    'Active evals and collections of one key',
    `\`MAX_ACTIVE_EVALS\` (${DEFAULTS.MAX_ACTIVE_EVALS})`,
    '429 `too_many_active`',
  ],
  [
    'Size of a body, after decompression',
    '64 MiB for routes that take completions (scores, samples, groups, the reward routes of trainers) and for `PUT /runs/{run}/checkpoint`; 1 MiB elsewhere',
    '413 `body_too_large`',
  ],
  ['URL and headers together', '16 KiB', '431 `headers_too_large`'],
  [
    'JSON',
    `${MAX_JSON_DEPTH} levels of nesting; ${formatCount(MAX_JSON_ENTRIES)} entries in one array or object; ${formatCount(MAX_JSON_CONTAINERS)} arrays and objects; no \`__proto__\` and no \`constructor.prototype\``,
    '400 `invalid_json`',
  ],
  ['Time for the headers of a request to arrive', formatSeconds(headersMs), '408 `request_timeout`'],
  ['Time for a whole request to arrive', formatSeconds(requestMs), '408 `request_timeout`'],
  [
    'Bodies above 64 KiB, after decompression, in one API process at once',
    `\`LARGE_BODIES\` (${DEFAULTS.LARGE_BODIES}); one key gets at most three quarters of them`,
    'The body waits unread for up to 3 × `SLOW_CLIENT_S`, then 503 `server_busy`; one that has no `Content-Length`, or begins in chunks of under 64 bytes, does not wait',
  ],
  [
    'Replies above 256 KiB in one API process at once',
    `\`LARGE_REPLIES\` (${DEFAULTS.LARGE_REPLIES}); one key gets at most three quarters of them`,
    'The reply waits for up to 3 × `SLOW_CLIENT_S`, then 503 `server_busy`',
  ],
  [
    'Speed of a large body or of a client that reads a large reply, while others wait',
    `At least 64 KiB/s, averaged over a quarter of \`SLOW_CLIENT_S\` (${DEFAULTS.SLOW_CLIENT_S} s)`,
    'A body gets 408 `request_timeout`; a reply breaks off. Both count in `rgs_http_slow_clients_total`',
  ],
  ['Idle connection, between two requests', formatSeconds(keepAliveMs), 'The connection is closed'],
  [
    'Connection without a byte in either direction during a request',
    `${inactivityMs / 60_000} min`,
    'The connection is closed',
  ],
]

export function buildLimitsPage(): string {
  return [
    '# Limits',
    'Settings in capitals are [environment variables](environment.md); values in parentheses are their defaults. A 429 and a 503 carry\n`Retry-After`. `GET /livez` and `GET /readyz` are neither counted nor limited. To set limits, see [access](../operations/access.md).',
    formatTable(['what', 'limit', 'above it'], LIMITS),
    'Each API process counts requests and bytes locally and shares its counts through Redis every 0.5 s. No request waits for that,\nand the limits apply even while Redis is down. A limit can be exceeded by what arrives in 0.5 s, times the number of processes.\n',
  ].join('\n\n')
}
