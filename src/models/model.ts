/** A model behind an OpenAI-compatible server: asked until it answers or the tries are used up. */
import { setTimeout as sleep } from 'node:timers/promises'
import { APIConnectionError, APIConnectionTimeoutError, APIError, OpenAI } from 'openai'
import type { PromptMessage } from '../words/item.ts'
import { CallRefused, type GuardedFetch } from './guarded-fetch.ts'
import { type Reply, readReply } from './reply.ts'

const BACKOFF_MS = 500
const BACKOFF_MOST_MS = 30_000
/** A longer Retry-After is cut to this: the sampler shows progress, and can be cancelled meanwhile. */
const RETRY_AFTER_MOST_MS = 10 * 60_000
const RETRIED = new Set([408, 409, 425, 429])
const NUMBER = /^\d+(\.\d+)?$/
const DETAIL_CHARS = 300

export interface ModelPlace {
  name: string
  base_url: string
  api_key?: string | undefined
}

/** How a model is asked, beside the messages. */
export interface Asking {
  temperature: number | null
  max_tokens?: number | undefined
  top_p?: number | undefined
  /** Merged into the body of each request. */
  request?: Record<string, unknown> | undefined
  /** Sample k of an item is asked for with seed + k. */
  seed?: number | undefined
  timeout_s: number
  retries: number
}

/** Why no completion came, after all tries; `detail` never holds the key. */
export class NoReply extends Error {}

interface Failure {
  detail: string
  retry: boolean
  afterMs?: number
}

export class Model {
  readonly #client: OpenAI
  readonly #name: string
  readonly #key: string | undefined

  constructor({ name, base_url, api_key }: ModelPlace, { fetch }: GuardedFetch) {
    this.#name = name
    this.#key = api_key
    this.#client = new OpenAI({
      baseURL: base_url,
      apiKey: api_key ?? 'none',
      adminAPIKey: null,
      organization: null,
      project: null,
      maxRetries: 0, // retried below, where a wait can be cut short
      logLevel: 'off',
      fetch,
      defaultHeaders: { 'accept-encoding': 'identity', ...(api_key === undefined && { authorization: null }) },
    })
  }

  /** Throws `NoReply`, or the signal's reason once it is aborted. */
  async ask(messages: PromptMessage[], asking: Asking, signal: AbortSignal): Promise<Reply> {
    for (let tries = 0; ; tries++) {
      const outcome = await this.#askOnce(messages, asking, signal)
      if ('content' in outcome) return outcome
      if (!outcome.retry || tries >= asking.retries) throw new NoReply(this.#withoutKey(outcome.detail))
      await sleep(outcome.afterMs ?? backoff(tries), undefined, { signal })
    }
  }

  async #askOnce(messages: PromptMessage[], asking: Asking, signal: AbortSignal): Promise<Reply | Failure> {
    const { temperature, max_tokens, top_p, request, timeout_s } = asking
    const body = {
      model: this.#name,
      messages,
      ...(temperature !== null && { temperature }),
      ...(max_tokens !== undefined && { max_tokens }),
      ...(top_p !== undefined && { top_p }),
      ...request,
    }
    try {
      const answer = await this.#client.chat.completions.create(body as typeof body & { stream?: false }, {
        signal,
        timeout: timeout_s * 1000,
      })
      const told = typeof answer === 'string' ? jsonOf(answer) : answer
      return readReply(told) ?? { detail: `the answer is no chat completion: ${excerpt(told)}`, retry: true }
    } catch (error) {
      signal.throwIfAborted()
      return failureOf(error)
    }
  }

  /** Servers repeat a wrong key in their messages. */
  #withoutKey(detail: string): string {
    const clean = this.#key ? detail.replaceAll(this.#key, '[key]') : detail
    return clean.slice(0, DETAIL_CHARS)
  }
}

function failureOf(error: unknown): Failure {
  const refused = causes(error).find((cause) => cause instanceof CallRefused)
  if (refused) return { detail: refused.message, retry: false }
  if (error instanceof APIConnectionTimeoutError) return { detail: 'no answer within the timeout', retry: true }
  if (error instanceof APIConnectionError) return { detail: connectionDetail(error), retry: true }
  if (error instanceof APIError && typeof error.status === 'number') {
    const { status, headers } = error as APIError<number, Headers>
    return { detail: `HTTP ${error.message}`, retry: RETRIED.has(status) || status >= 500, ...retryAfter(headers) }
  }
  if (error instanceof SyntaxError) return { detail: 'the answer is not JSON', retry: true }
  return { detail: error instanceof Error ? connectionDetail(error) : String(error), retry: true }
}

/** The client leaves a body as text where the server does not call it JSON, as simple servers forget to do. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The server's own words, which may be an error that it sent with status 200. */
function excerpt(answer: unknown): string {
  const text = typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? '')
  return text.trim() || 'nothing'
}

function connectionDetail(error: Error): string {
  const [first, ...more] = causes(error).map(({ message }) => message)
  return [first, more.at(-1)].filter(Boolean).join(' ')
}

function causes(error: unknown): Error[] {
  const found: Error[] = []
  for (let cause = error; cause instanceof Error && found.length < 8; cause = cause.cause) found.push(cause)
  return found
}

/** Milliseconds, as OpenAI and Azure tell them beside; else seconds or a date, as HTTP has it. */
function retryAfter(headers: Headers | undefined): { afterMs: number } | undefined {
  const exact = headers?.get('retry-after-ms') ?? ''
  const text = headers?.get('retry-after') ?? ''
  const ms = NUMBER.test(exact)
    ? Number(exact)
    : NUMBER.test(text)
      ? Number(text) * 1000
      : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? { afterMs: Math.min(Math.max(ms, 0), RETRY_AFTER_MOST_MS) } : undefined
}

/** Doubles with each try; at random in its upper half, so that many callers do not come back at once. */
function backoff(tries: number): number {
  return Math.min(BACKOFF_MS * 2 ** tries, BACKOFF_MOST_MS) * (0.5 + Math.random() / 2)
}
