/** Why a call to the server came to nothing, told in one line; and whether to ask again may help. */
import { z } from 'zod'
import { CliError } from './cli-error.ts'

const ProblemResponse = z.object({
  code: z.string(),
  detail: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).default([]),
})

/** Of Node, its resolver and undici: nothing listens there, or the connection broke, as while a server restarts. */
const CONNECTION_ERROR_CODE =
  /^(?:E(?:AI_AGAIN|CONN\w+|HOST\w+|NET\w+|NOTFOUND|PIPE|TIMEDOUT)|UND_ERR_(?:\w+_TIMEOUT|SOCKET))$/
/** The server's own "not now", and a proxy's while there is no server behind it. */
const RETRYABLE_STATUSES = new Set([429, 502, 503, 504])

/** A conflict that passes (`run_changed`, `idempotency_in_progress`) is a 409 with Retry-After. */
function isRetryable({ status, headers }: Response): boolean {
  return RETRYABLE_STATUSES.has(status) || (status === 409 && headers.has('retry-after'))
}

/** What fetch threw. */
export function createConnectionError(cause: unknown, url: string): CliError {
  const reason = getRootCause(cause)
  if (CONNECTION_ERROR_CODE.test(getErrorCode(reason))) {
    const message = `No server answers at ${url}: start it (reasoning-gym-server serve), or name another with --url`
    return new CliError(message, { cause, isTransient: true })
  }
  return new CliError(
    `${url} cannot be called (${formatErrorReason(reason)}): is this the address of a reasoning-gym-server?`,
    {
      cause,
    },
  )
}

/** What the reading of an answer threw. */
export function createBodyError(cause: unknown, call: string): CliError {
  if (cause instanceof SyntaxError)
    return new CliError(`${call} answered something that is not JSON: is this a reasoning-gym-server?`, { cause })
  return new CliError(`${call}: the server broke off in the middle of its answer`, { cause, isTransient: true })
}

/** What is not 2xx. */
export async function createResponseError(response: Response, call: string): Promise<CliError> {
  const isTransient = isRetryable(response)
  const problem = ProblemResponse.safeParse(await response.json().catch(() => undefined)).data
  if (!problem)
    return new CliError(`${call} answered ${response.status}: is this a reasoning-gym-server?`, {
      isTransient,
    })
  const { code, detail, errors } = problem
  const fields = errors.map(({ path, message }) => `${path}: ${message}`).join('; ')
  const advice = code === 'unauthorized' ? ' (give it with --key or SERVER_API_KEY)' : ''
  return new CliError(`${detail}${fields && ` (${fields})`}${advice} [${code}]`, { code, isTransient })
}

function getRootCause(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? getRootCause(error.cause) : error
}

function getErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Without what OpenSSL puts around: `40FD…:error:0A00010B:SSL routines:…:wrong version number:…:77:`. */
function formatErrorReason(error: unknown): string {
  const code = getErrorCode(error)
  if (code.startsWith('ERR_SSL_')) return code.slice('ERR_SSL_'.length).replaceAll('_', ' ').toLowerCase()
  return error instanceof Error ? error.message : String(error)
}
