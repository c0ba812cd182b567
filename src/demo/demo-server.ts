/** The server as the trainer of a demo calls it. A call that is rejected for a while is repeated, as a trainer would. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '@reasoning-gym-server/contract/errors'
import type { KnownItem } from '@reasoning-gym-server/mock-model/item-lookup'
import { z } from 'zod'

const MAX_ATTEMPTS = 10

export interface DemoCall {
  method: 'GET' | 'PUT' | 'PATCH' | 'POST'
  path: string
  body?: object
  headers?: Record<string, string>
}

export interface DemoAnswer {
  status: number
  /** In seconds; undefined if a retry makes no sense. */
  retryAfterS: number | undefined
  /** The parsed JSON; undefined without a body. */
  body: unknown
}

export interface DemoServer {
  /** Resolves with the body of a 2xx response. Throws a DemoCallError for other responses. */
  call(call: DemoCall): Promise<unknown>
  /** Returns an item with its reference answer, which only the simulated model sees. */
  lookUp(itemId: string): Promise<KnownItem>
}

const { code, detail, kind, name } = Problem.shape
const Rejection = z
  .object({ code, detail, kind, name })
  .catch({ code: 'internal', detail: 'The server gave no reason.' })
type Rejection = z.infer<typeof Rejection>

/** The server rejected a call of the demo. */
export class DemoCallError extends Error {
  readonly status: number
  readonly rejection: Rejection

  constructor({ method, path }: DemoCall, { status, body }: DemoAnswer) {
    const rejection = Rejection.parse(body)
    super(`${method} ${path} returned ${status}: ${rejection.detail}`)
    this.status = status
    this.rejection = rejection
  }
}

export function createDemoServer(
  send: (call: DemoCall) => Promise<DemoAnswer>,
  lookUp: DemoServer['lookUp'],
  signal?: AbortSignal,
): DemoServer {
  return {
    lookUp,
    async call(call) {
      for (let attempt = 1; ; attempt++) {
        const answer = await untilAborted(send(call), signal)
        if (answer.status < 300) return answer.body
        if (answer.retryAfterS === undefined || attempt === MAX_ATTEMPTS) throw new DemoCallError(call, answer)
        await sleep(answer.retryAfterS * 1000, undefined, signal && { signal })
      }
    },
  }
}

/** Rejects as soon as the signal aborts, because a call that waits for its scores would hold up a shutdown. */
async function untilAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return promise
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
    promise.catch(() => {}) // its outcome no longer matters after an abort
  }
}
