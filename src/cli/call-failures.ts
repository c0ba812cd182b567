/** Why a call to the server came to nothing, told in one line; and whether to ask again may help. */
import { z } from 'zod'
import { Failure } from './failure.ts'

const Problem = z.object({
  code: z.string(),
  detail: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).default([]),
})

/** Of Node, its resolver and undici: nothing listens there, or the connection broke, as while a server restarts. */
const AWAY = /^(?:E(?:AI_AGAIN|CONN\w+|HOST\w+|NET\w+|NOTFOUND|PIPE|TIMEDOUT)|UND_ERR_(?:\w+_TIMEOUT|SOCKET))$/
/** The server's own "not now", and a proxy's while there is no server behind it. */
const NOT_NOW = new Set([429, 502, 503, 504])

/** What fetch threw. */
export function connectionFailure(cause: unknown, url: string): Failure {
  const reason = deepest(cause)
  if (AWAY.test(codeOf(reason))) {
    const message = `No server answers at ${url}: start it (reasoning-gym-server serve), or name another with --url`
    return new Failure(message, { cause, isPassing: true })
  }
  return new Failure(`${url} cannot be called (${wordsOf(reason)}): is this the address of a reasoning-gym-server?`, {
    cause,
  })
}

/** What the reading of an answer threw. */
export function readingFailure(cause: unknown, call: string): Failure {
  if (cause instanceof SyntaxError)
    return new Failure(`${call} answered something that is not JSON: is this a reasoning-gym-server?`, { cause })
  return new Failure(`${call}: the server broke off in the middle of its answer`, { cause, isPassing: true })
}

/** What is not 2xx. */
export async function refusal(response: Response, call: string): Promise<Failure> {
  const isPassing = NOT_NOW.has(response.status)
  const problem = Problem.safeParse(await response.json().catch(() => undefined)).data
  if (!problem)
    return new Failure(`${call} answered ${response.status}: is this a reasoning-gym-server?`, { isPassing })
  const { code, detail, errors } = problem
  const fields = errors.map(({ path, message }) => `${path}: ${message}`).join('; ')
  const advice = code === 'unauthorized' ? ' (give it with --key or SERVER_KEY)' : ''
  return new Failure(`${detail}${fields && ` (${fields})`}${advice} [${code}]`, { code, isPassing })
}

function deepest(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? deepest(error.cause) : error
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Without what OpenSSL puts around: `40FD…:error:0A00010B:SSL routines:…:wrong version number:…:77:`. */
function wordsOf(error: unknown): string {
  const code = codeOf(error)
  if (code.startsWith('ERR_SSL_')) return code.slice('ERR_SSL_'.length).replaceAll('_', ' ').toLowerCase()
  return error instanceof Error ? error.message : String(error)
}
