/**
 * Calls one model on an OpenAI-compatible server and retries requests that fail for a temporary reason. It recognizes
 * failures that no other sample of the job would escape: nothing listens at the model's address, its server rejects the
 * key, or it has no such model. Loaded with the first model, for its size.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { PromptMessage } from '@reasoning-gym-server/contract/item'
import { APIConnectionError, APIError, OpenAI } from 'openai'
import { type MemoryHold, readAnswer } from './answer-memory.ts'
import type { GuardedFetch } from './guarded-fetch.ts'
import {
  BlockedRequestError,
  ModelClientClosedError,
  ModelRequestError,
  ModelUnavailableError,
  UncallableModelError,
} from './model-errors.ts'
import { findProviderFailure, type ModelResponse, parseModelResponse } from './response.ts'
import type { GenerationParams } from './spec.ts'

const BACKOFF_BASE_MS = 500
const BACKOFF_MAX_MS = 30_000
/** Upper limit for Retry-After, so that a job never sleeps for hours. */
const RETRY_AFTER_MAX_MS = 10 * 60_000
const RETRYABLE_STATUSES = new Set([408, 409, 425, 429])
const DECIMAL_PATTERN = /^\d+(\.\d+)?$/
const MAX_DETAIL_CHARS = 300
/** Time that a model’s server gets to accept its first connection: it may be starting. */
const FIRST_CONNECTION_MS = 10_000
const FIRST_CONNECTION_RETRY_MS = 500
/** Time that a large answer gets to arrive, because others may wait for its memory. */
const LARGE_ANSWER_MS = 60_000

/** A message of the prompt, or of an earlier try. */
export type ConversationMessage = PromptMessage | { role: 'assistant'; content: string }

interface ModelEndpoint {
  name: string
  base_url: string
  api_key?: string | undefined
}

const GREETING: PromptMessage[] = [{ role: 'user', content: 'Hello' }]

/** How one completion is requested. */
interface RequestContext {
  signal: AbortSignal
  /** Memory for a large answer. */
  hold: MemoryHold
}

interface RequestFailure {
  detail: string
  /** The same without what the host replied and how the connection failed. Absent if `detail` tells neither. */
  summary?: string
  retryable: boolean
  retryAfterMs?: number
  /** Whether the model’s server dealt with the request and only rejects this one. */
  isAnswer?: boolean
  /** Set if other requests cannot succeed either, unless an earlier one has. */
  obstacle?: ModelObstacle | undefined
}

interface ModelClientOptions {
  /** Whether another process has received an answer from the model. */
  hasAnsweredElsewhere?: () => Promise<boolean>
  firstConnectionMs?: number
  /** Only an admin may see what another service replies that is not a model. */
  hidesReplies?: boolean | undefined
}

export class ModelClient {
  readonly #client: OpenAI
  readonly #fetch: GuardedFetch
  readonly #endpoint: ModelEndpoint
  readonly #options: ModelClientOptions
  readonly #closed = new AbortController()
  /** Whether the model has answered a request. Until then, an obstacle stops the job instead of failing a sample. */
  #hasAnswered = false
  #firstObstacleAt: number | undefined
  #confirmation: Promise<boolean> | undefined

  constructor(endpoint: ModelEndpoint, guardedFetch: GuardedFetch, options: ModelClientOptions = {}) {
    const { base_url, api_key } = endpoint
    this.#endpoint = endpoint
    this.#options = options
    this.#fetch = guardedFetch
    this.#client = new OpenAI({
      baseURL: base_url,
      apiKey: api_key ?? 'none',
      adminAPIKey: null,
      organization: null,
      project: null,
      maxRetries: 0, // `complete` retries, so that a signal can interrupt the wait
      logLevel: 'off',
      fetch: guardedFetch.fetch,
      defaultHeaders: { 'accept-encoding': 'identity', ...(api_key === undefined && { authorization: null }) },
    })
  }

  /** Ends the requests that are under way. */
  close(): Promise<void> {
    this.#closed.abort(new ModelClientClosedError('The client of the model was closed'))
    return this.#fetch.close()
  }

  /**
   * Requests a completion. Throws a `ModelRequestError`, a `ModelUnavailableError` if no request can succeed, a
   * `ModelClientClosedError`, or the signal's reason if it aborts.
   */
  async complete(
    messages: ConversationMessage[],
    params: GenerationParams,
    { signal, hold }: RequestContext,
  ): Promise<ModelResponse> {
    const closed = this.#closed.signal
    try {
      return await this.#completeWithRetries(messages, params, { signal: AbortSignal.any([signal, closed]), hold })
    } catch (error) {
      signal.throwIfAborted()
      closed.throwIfAborted()
      throw error
    }
  }

  async #completeWithRetries(
    messages: ConversationMessage[],
    params: GenerationParams,
    context: RequestContext,
  ): Promise<ModelResponse> {
    const { signal } = context
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#completeFirst(messages, params, context)
      if ('content' in outcome) return outcome
      if (!outcome.retryable || attempt >= params.retries) throw new ModelRequestError(this.#describe(outcome))
      await sleep(outcome.retryAfterMs ?? backoffDelayMs(attempt), undefined, { signal })
    }
  }

  /** Requests once. Until the model has answered, waits for its server to start, and throws if it cannot be called. */
  async #completeFirst(messages: ConversationMessage[], params: GenerationParams, context: RequestContext) {
    const { signal } = context
    for (;;) {
      const outcome = await this.#completeOnce(messages, params, context)
      if ('content' in outcome || outcome.isAnswer) this.#hasAnswered = true
      if ('content' in outcome || !outcome.obstacle || this.#hasAnswered) return outcome
      this.#firstObstacleAt ??= performance.now()
      const deadline = this.#firstObstacleAt + (this.#options.firstConnectionMs ?? FIRST_CONNECTION_MS)
      if (outcome.obstacle.kind === 'no_connection' && performance.now() < deadline) {
        await sleep(FIRST_CONNECTION_RETRY_MS * (0.5 + Math.random()), undefined, { signal })
        continue
      }
      if (await this.#hasAnsweredBefore(outcome.obstacle, params, context)) return outcome
      const { name, base_url, api_key } = this.#endpoint
      const { hidesReplies = false } = this.#options
      const view = { name, base_url, hasKey: api_key !== undefined, said: this.#describe(outcome), hidesReplies }
      throw new ModelUnavailableError(explainModelObstacle(outcome.obstacle, view))
    }
  }

  /** Whether the model answers other requests. A server that rejects one sample may accept another one. */
  async #hasAnsweredBefore(
    { kind }: ModelObstacle,
    params: GenerationParams,
    context: RequestContext,
  ): Promise<boolean> {
    const greet = async () => {
      const outcome = await this.#completeOnce(GREETING, { ...params, max_tokens: 1 }, context)
      return 'content' in outcome || outcome.obstacle === undefined
    }
    if (kind === 'rejected') {
      this.#confirmation ??= greet().finally(() => {
        this.#confirmation = undefined
      })
      this.#hasAnswered ||= await this.#confirmation
    }
    this.#hasAnswered ||= (await this.#options.hasAnsweredElsewhere?.()) ?? false
    return this.#hasAnswered
  }

  async #completeOnce(
    messages: ConversationMessage[],
    params: GenerationParams,
    { signal, hold }: RequestContext,
  ): Promise<ModelResponse | RequestFailure> {
    const { temperature, max_tokens, top_p, request, timeout_s } = params
    const body = {
      model: this.#endpoint.name,
      messages,
      ...(temperature !== null && { temperature }),
      ...(max_tokens !== undefined && { max_tokens }),
      ...(top_p !== undefined && { top_p }),
      ...request,
    }
    // the client's own timeout ends with the headers
    const expired = new AbortController()
    const timers = [setTimeout(() => expired.abort(), timeout_s * 1000)]
    const onLarge = () => void timers.push(setTimeout(() => expired.abort(), LARGE_ANSWER_MS))
    const either = AbortSignal.any([signal, expired.signal])
    try {
      const response = await this.#client.chat.completions
        .create(body as typeof body & { stream?: false }, { signal: either })
        .asResponse()
      const content = parseJsonOrText(await readAnswer(response, { hold, signal: either, onLarge }))
      const failure = findProviderFailure(content)
      if (failure !== undefined) return { detail: failure, summary: "the model's server failed", retryable: true }
      const summary = 'the response is not a chat completion'
      return (
        parseModelResponse(content) ?? {
          detail: `${summary}: ${responseToText(content)}`,
          summary,
          retryable: true,
        }
      )
    } catch (error) {
      signal.throwIfAborted()
      if (expired.signal.aborted) return { detail: 'no response within the timeout', retryable: true }
      return toRequestFailure(error)
    } finally {
      for (const timer of timers) clearTimeout(timer)
    }
  }

  /** Removes the API key, because some servers repeat a wrong key in their error messages. */
  #describe({ detail, summary }: RequestFailure): string {
    if (summary !== undefined && this.#options.hidesReplies) return summary
    const { api_key } = this.#endpoint
    const clean = api_key ? detail.replaceAll(api_key, '[key]') : detail
    return clean.slice(0, MAX_DETAIL_CHARS)
  }
}

function toRequestFailure(error: unknown): RequestFailure {
  const obstacle = findModelObstacle(listCauses(error))
  const isAnswer = obstacle === undefined && error instanceof APIError && (error.status ?? 500) < 500
  return { ...describeFailure(error), obstacle, isAnswer }
}

function describeFailure(error: unknown): RequestFailure {
  const blocked = listCauses(error).find((cause) => cause instanceof BlockedRequestError)
  if (blocked) return { detail: blocked.message, retryable: false }
  const summary = "the model's server cannot be reached"
  if (error instanceof APIConnectionError) return { detail: formatConnectionError(error), summary, retryable: true }
  if (error instanceof APIError && typeof error.status === 'number') {
    const { status, headers } = error as APIError<number, Headers>
    return {
      detail: `HTTP ${error.message}`,
      summary: `HTTP ${status}`,
      retryable: RETRYABLE_STATUSES.has(status) || status >= 500,
      ...parseRetryAfter(headers),
    }
  }
  if (error instanceof SyntaxError) return { detail: 'the response is not JSON', retryable: true }
  return { detail: error instanceof Error ? formatConnectionError(error) : String(error), summary, retryable: true }
}

/** Parses the response whatever its content type, because simple servers forget to set it. */
function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Formats the response itself, which may be an error that the server sent with status 200. */
function responseToText(answer: unknown): string {
  const text = typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? '')
  return text.trim() || '(empty)'
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

/** Reads `retry-after-ms`, which OpenAI and Azure send, or otherwise the HTTP header with seconds or a date. */
function parseRetryAfter(headers: Headers | undefined): { retryAfterMs: number } | undefined {
  const exact = headers?.get('retry-after-ms') ?? ''
  const text = headers?.get('retry-after') ?? ''
  const ms = DECIMAL_PATTERN.test(exact)
    ? Number(exact)
    : DECIMAL_PATTERN.test(text)
      ? Number(text) * 1000
      : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? { retryAfterMs: Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS) } : undefined
}

/** Doubles the delay with each attempt. Jitter over the upper half keeps callers from retrying at the same time. */
function backoffDelayMs(attempt: number): number {
  return Math.min(BACKOFF_BASE_MS * 2 ** attempt, BACKOFF_MAX_MS) * (0.5 + Math.random() / 2)
}

type ModelObstacle =
  /** No connection, which can change while a server starts. */
  | { kind: 'no_connection'; why: string }
  /** The server rejects the key or the model. */
  | { kind: 'rejected'; status: 401 | 403 | 404 }
  /** The server must not or cannot be called at this address. */
  | { kind: 'blocked' }

const CONNECTION_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing accepts connections there (connection refused)',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved at the moment',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to its network',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  EPROTO: 'the TLS handshake failed: the server may expect http instead of https',
}
const CERTIFICATE_CODE = /CERT|^ERR_TLS/

/** `causes` is the error with its causes, outermost first. Returns undefined for a failure of one request. */
function findModelObstacle(causes: readonly Error[]): ModelObstacle | undefined {
  for (const cause of causes) {
    if (cause instanceof UncallableModelError) return { kind: 'blocked' }
    if (cause instanceof APIError && (cause.status === 401 || cause.status === 403 || cause.status === 404))
      return { kind: 'rejected', status: cause.status }
    const { code } = cause as NodeJS.ErrnoException
    if (code === undefined) continue
    if (CERTIFICATE_CODE.test(code)) return { kind: 'no_connection', why: `its certificate is rejected (${code})` }
    const why = CONNECTION_FAILURES[code]
    if (why !== undefined) return { kind: 'no_connection', why }
  }
  return undefined
}

/** Says why the model cannot be called and what to do. `said` describes the failed request. */
function explainModelObstacle(
  obstacle: ModelObstacle,
  {
    name,
    base_url,
    hasKey,
    said,
    hidesReplies,
  }: { name: string; base_url: string; hasKey: boolean; said: string; hidesReplies: boolean },
): string {
  const { hostname, port, protocol } = new URL(base_url)
  const address = `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
  if (obstacle.kind === 'blocked') return `The model ${name} at ${address} cannot be called: ${said}. Correct base_url.`
  if (obstacle.kind === 'no_connection')
    return `The model ${name} cannot be reached at ${address}${hidesReplies ? '' : `: ${obstacle.why}`}. Start its server and resume, or correct base_url.`
  if (obstacle.status === 404)
    return `The server at ${address} has no model ${name}, or no chat completions below ${base_url} (${said}). Correct the model’s name or base_url.`
  return hasKey
    ? `The server at ${address} rejects the API key (${said}). Resume with a valid key.`
    : `The server at ${address} requires an API key (${said}). Resume with a key.`
}
