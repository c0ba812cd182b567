/** Errors of calls to the server, each as one line that says what to do, and whether a retry may help. */
import { Problem as ProblemDocument } from '@reasoning-gym-server/contract/errors'
import { CliError, type Problem } from './cli-error.ts'
import { makeTolerant } from './tolerant-schema.ts'

const Rejection = makeTolerant(ProblemDocument.pick({ code: true, detail: true, errors: true, kind: true, name: true }))

/** Error codes of Node, its resolver and undici for an unreachable server or a broken connection, such as during a restart. */
const CONNECTION_ERROR_CODE =
  /^(?:E(?:AI_AGAIN|CONN\w+|HOST\w+|NET\w+|NOTFOUND|PIPE|TIMEDOUT)|UND_ERR_(?:\w+_TIMEOUT|SOCKET))$/
/** Statuses of an overloaded server, or of a proxy while no server is behind it. */
const RETRYABLE_STATUSES = new Set([429, 502, 503, 504])

/** A transient conflict (`run_changed`, `idempotency_in_progress`) is a 409 with Retry-After. */
function isRetryable({ status, headers }: Response): boolean {
  return RETRYABLE_STATUSES.has(status) || (status === 409 && headers.has('retry-after'))
}

/** Converts an error that fetch threw. */
export function createConnectionError(cause: unknown, url: string): CliError {
  const reason = getRootCause(cause)
  if (CONNECTION_ERROR_CODE.test(getErrorCode(reason))) {
    const message = `No server answers at ${url}. Start one with "reasoning-gym-server serve", or set --url to another server`
    return new CliError(message, { cause, isTransient: true })
  }
  return new CliError(
    `Cannot call ${url} (${formatErrorReason(reason)}). Check that --url or REASONING_GYM_URL is the address of a reasoning-gym-server`,
    {
      cause,
    },
  )
}

/** Converts an error that reading a response body threw. */
export function createBodyError(cause: unknown, call: string): CliError {
  if (cause instanceof SyntaxError)
    return new CliError(
      `${call} returned something other than JSON. Check that --url or REASONING_GYM_URL is the address of a reasoning-gym-server`,
      { cause },
    )
  return new CliError(`${call}: the server closed the connection before the response was complete. Try again`, {
    cause,
    isTransient: true,
  })
}

/** Converts a response whose status is not 2xx. */
export async function createResponseError(
  response: Response,
  { call, ...request }: Problem['request'] & { call: string },
): Promise<CliError> {
  const isTransient = isRetryable(response)
  const problem = Rejection.safeParse(await response.json().catch(() => undefined)).data
  if (!problem)
    return new CliError(
      `${call} returned ${response.status} without an error document. Check that --url or REASONING_GYM_URL is the address of a reasoning-gym-server`,
      {
        isTransient,
      },
    )
  const { code, detail, errors: fields = [], kind, name } = problem
  const missing = kind !== undefined && name !== undefined ? { kind, name } : undefined
  return new CliError(`${detail} [${code}]`, {
    isTransient,
    problem: { code, detail, fields, request, ...(missing && { missing }) },
  })
}

function getRootCause(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? getRootCause(error.cause) : error
}

function getErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Strips the prefix and suffix that OpenSSL adds: `40FD…:error:0A00010B:SSL routines:…:wrong version number:…:77:`. */
function formatErrorReason(error: unknown): string {
  const code = getErrorCode(error)
  if (code.startsWith('ERR_SSL_')) return code.slice('ERR_SSL_'.length).replaceAll('_', ' ').toLowerCase()
  return error instanceof Error ? error.message : String(error)
}
