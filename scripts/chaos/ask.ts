/** Calls as a trainer makes them: to any node, again and again until there is an answer. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dice } from './dice.ts'

const GIVE_UP_MS = 600_000 // on a busy machine a node is long in coming back
const ONE_TRY_MS = 20_000
const PAUSE_MOST_MS = 2000

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a trainer reads what the contract promises, and fails where it is not there
  body: any
}

export class Asker {
  readonly #urls: string[]
  readonly #dice: Dice
  /** Tries that got no answer, or were told to come again. */
  repeated = 0
  #closed = false

  constructor(urls: string[], dice: Dice) {
    this.#urls = urls
    this.#dice = dice
  }

  /** The first answer that is neither lost, 429 nor 503. */
  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    let last = 'nothing'
    for (const until = Date.now() + GIVE_UP_MS; Date.now() < until && !this.#closed; this.repeated++) {
      const told = await this.#once(method, path, body, headers).catch((error: Error) => error)
      if (!(told instanceof Error) && told.status !== 429 && told.status !== 503) return told
      last =
        told instanceof Error ? `${told.message} ${String(told.cause)}` : `${told.status} ${JSON.stringify(told.body)}`
      const after = told instanceof Error ? 0 : Number(told.headers.get('retry-after') ?? 0) * 1000
      await sleep(Math.min(PAUSE_MOST_MS, Math.max(after, 100)) * this.#dice.between(0.5, 1))
    }
    throw new Error(`${method} ${path} had no answer for ${GIVE_UP_MS / 1000} s; the last was ${last}`)
  }

  /** No call is made again after this. */
  close(): void {
    this.#closed = true
  }

  async #once(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Answer> {
    const response = await fetch(this.#dice.one(this.#urls) + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ONE_TRY_MS),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
  }
}
