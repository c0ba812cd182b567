/** A model behind an OpenAI-compatible server: asked until it answers or the tries are used up. */
import { setTimeout as sleep } from 'node:timers/promises'
import { APIConnectionError, APIConnectionTimeoutError, APIError, OpenAI } from 'openai'
import type { PromptMessage } from '../../../contract/item.ts'
import { BlockedRequestError, type GuardedFetch } from './guarded-fetch.ts'
import { type ModelResponse, parseModelResponse } from './model-response.ts'

const BACKOFF_BASE_MS = 500
const BACKOFF_MAX_MS = 30_000
/** A longer Retry-After is cut to this: the sampler shows progress, and can be cancelled meanwhile. */
const RETRY_AFTER_MAX_MS = 10 * 60_000
const RETRYABLE_STATUSES = new Set([408, 409, 425, 429])
const DECIMAL_PATTERN = /^\d+(\.\d+)?$/
const MAX_DETAIL_CHARS = 300

export interface ModelEndpoint {
  name: string
  base_url: string
  api_key?: string | undefined
}

/** How a model is asked, beside the messages. */
export interface GenerationParams {
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
export class ModelRequestError extends Error {}

interface RequestFailure {
  detail: string
  retryable: boolean
  afterMs?: number
}

export class ModelClient {
  readonly #client: OpenAI
  readonly #modelName: string
  readonly #apiKey: string | undefined

  constructor({ name, base_url, api_key }: ModelEndpoint, { fetch }: GuardedFetch) {
    this.#modelName = name
    this.#apiKey = api_key
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
  async complete(messages: PromptMessage[], asking: GenerationParams, signal: AbortSignal): Promise<ModelResponse> {
    for (let tries = 0; ; tries++) {
      const outcome = await this.#completeOnce(messages, asking, signal)
      if ('content' in outcome) return outcome
      if (!outcome.retryable || tries >= asking.retries) throw new ModelRequestError(this.#redactApiKey(outcome.detail))
      await sleep(outcome.afterMs ?? backoffDelayMs(tries), undefined, { signal })
    }
  }

  async #completeOnce(
    messages: PromptMessage[],
    asking: GenerationParams,
    signal: AbortSignal,
  ): Promise<ModelResponse | RequestFailure> {
    const { temperature, max_tokens, top_p, request, timeout_s } = asking
    const body = {
      model: this.#modelName,
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
      const told = typeof answer === 'string' ? parseJsonOrText(answer) : answer
      return (
        parseModelResponse(told) ?? {
          detail: `the answer is no chat completion: ${responseToText(told)}`,
          retryable: true,
        }
      )
    } catch (error) {
      signal.throwIfAborted()
      return toRequestFailure(error)
    }
  }

  /** Servers repeat a wrong key in their messages. */
  #redactApiKey(detail: string): string {
    const clean = this.#apiKey ? detail.replaceAll(this.#apiKey, '[key]') : detail
    return clean.slice(0, MAX_DETAIL_CHARS)
  }
}

function toRequestFailure(error: unknown): RequestFailure {
  const refused = listCauses(error).find((cause) => cause instanceof BlockedRequestError)
  if (refused) return { detail: refused.message, retryable: false }
  if (error instanceof APIConnectionTimeoutError) return { detail: 'no answer within the timeout', retryable: true }
  if (error instanceof APIConnectionError) return { detail: formatConnectionError(error), retryable: true }
  if (error instanceof APIError && typeof error.status === 'number') {
    const { status, headers } = error as APIError<number, Headers>
    return {
      detail: `HTTP ${error.message}`,
      retryable: RETRYABLE_STATUSES.has(status) || status >= 500,
      ...parseRetryAfter(headers),
    }
  }
  if (error instanceof SyntaxError) return { detail: 'the answer is not JSON', retryable: true }
  return { detail: error instanceof Error ? formatConnectionError(error) : String(error), retryable: true }
}

/** The client leaves a body as text where the server does not call it JSON, as simple servers forget to do. */
function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The server's own words, which may be an error that it sent with status 200. */
function responseToText(answer: unknown): string {
  const text = typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? '')
  return text.trim() || 'nothing'
}

function formatConnectionError(error: Error): string {
  const [first, ...more] = listCauses(error).map(({ message }) => message)
  return [first, more.at(-1)].filter(Boolean).join(' ')
}

function listCauses(error: unknown): Error[] {
  const found: Error[] = []
  for (let cause = error; cause instanceof Error && found.length < 8; cause = cause.cause) found.push(cause)
  return found
}

/** Milliseconds, as OpenAI and Azure tell them beside; else seconds or a date, as HTTP has it. */
function parseRetryAfter(headers: Headers | undefined): { afterMs: number } | undefined {
  const exact = headers?.get('retry-after-ms') ?? ''
  const text = headers?.get('retry-after') ?? ''
  const ms = DECIMAL_PATTERN.test(exact)
    ? Number(exact)
    : DECIMAL_PATTERN.test(text)
      ? Number(text) * 1000
      : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? { afterMs: Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS) } : undefined
}

/** Doubles with each try; at random in its upper half, so that many callers do not come back at once. */
function backoffDelayMs(tries: number): number {
  return Math.min(BACKOFF_BASE_MS * 2 ** tries, BACKOFF_MAX_MS) * (0.5 + Math.random() / 2)
}
