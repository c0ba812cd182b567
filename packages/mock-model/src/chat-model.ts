/** Handles each request: counts it, applies a simulated failure or delay, and builds the response. */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { drawDelayMs, drawInjectedFailure, type InjectedFailure, type MockModelBehavior } from './behavior.ts'
import {
  buildChatCompletion,
  buildErrorBody,
  type ChatRequest,
  type CompletionSample,
  getQuestion,
  streamChatChunks,
} from './chat.ts'
import { generateCompletion } from './completion.ts'
import type { ItemLookup } from './item-lookup.ts'

/** Counts of requests and responses, for tests and for `GET /counts`. */
const NO_COUNTS = {
  requests: 0,
  /** Number of completions by outcome. */
  right: 0,
  wrong: 0,
  truncated: 0,
  format_fault: 0,
  /** Number of failed requests by kind. */
  rejected: 0,
  rate_limited: 0,
  server_error: 0,
  broken_json: 0,
  closed: 0,
  slow: 0,
  /** Number of questions that the server did not recognize. */
  unknown: 0,
}
export type MockModelCounts = typeof NO_COUNTS

/** Number of questions whose requests are counted. The least recently used are evicted. */
const MAX_COUNTED_QUESTIONS = 100_000

export class MockChatModel {
  readonly counts = { ...NO_COUNTS }
  readonly #behavior: MockModelBehavior
  readonly #itemLookup: ItemLookup
  readonly #requestCounts = new Map<string, number>()
  readonly #sampleCounts = new Map<string, number>()

  constructor(behavior: MockModelBehavior, knowledge: ItemLookup) {
    this.#behavior = behavior
    this.#itemLookup = knowledge
  }

  async chat(request: ChatRequest, reply: FastifyReply): Promise<unknown> {
    const question = getQuestion(request)
    const attempt = incrementCount(this.#requestCounts, question)
    this.counts.requests++
    await this.#delay(question, attempt)
    const mishap = drawInjectedFailure(this.#behavior, question, attempt)
    if (mishap) this.counts[mishap]++
    if (mishap && mishap !== 'broken_json' && mishap !== 'closed') return this.#sendFailure(mishap, reply)
    if (mishap === 'closed' && attempt % 2 === 0) return dropConnection(reply)
    const said = {
      id: `chatcmpl-${randomUUID()}`,
      behavior: this.#behavior,
      request,
      samples: await this.#generateSamples(request, question, mishap),
    }
    if (mishap) return sendTruncated(reply, JSON.stringify(buildChatCompletion(said)), mishap === 'broken_json')
    if (!request.stream) return buildChatCompletion(said)
    return reply.type('text/event-stream').send(Readable.from(streamChatChunks(said)))
  }

  async #generateSamples(
    request: ChatRequest,
    question: string,
    mishap: InjectedFailure | undefined,
  ): Promise<CompletionSample[]> {
    const item = await this.#itemLookup(question)
    if (!item) this.counts.unknown++
    const count = request.n ?? 1
    // A response that does not arrive is not counted as a sample. The next request returns the same sample.
    const first =
      request.seed ??
      (mishap ? (this.#sampleCounts.get(question) ?? 0) : incrementCount(this.#sampleCounts, question, count))
    return Array.from({ length: count }, (_, k) => {
      const sample = first + k
      const most = request.max_completion_tokens ?? request.max_tokens ?? undefined
      const completion = generateCompletion(this.#behavior, item, sample, most)
      if (!mishap) this.counts[completion.outcome.kind]++
      return { sample, completion }
    })
  }

  async #delay(question: string, attempt: number): Promise<void> {
    const ms = drawDelayMs(this.#behavior, question, attempt)
    if (ms > this.#behavior.latencyMs) this.counts.slow++
    if (ms > 0) await sleep(ms)
  }

  #sendFailure(mishap: 'rejected' | 'rate_limited' | 'server_error', reply: FastifyReply): FastifyReply {
    switch (mishap) {
      case 'rejected':
        return reply.status(400).send(buildErrorBody('This model takes no such prompt', 'context_length_exceeded'))
      case 'rate_limited':
        reply.header('retry-after', this.#behavior.retryAfterS)
        return reply.status(429).send(buildErrorBody('Rate limit reached, try again later', 'rate_limit_exceeded'))
      case 'server_error':
        return reply.status(500).send(buildErrorBody('The server had an error', 'server_error'))
    }
  }
}

/** Returns how often this name was counted before, and counts it. */
function incrementCount(counts: Map<string, number>, name: string, by = 1): number {
  const before = counts.get(name) ?? 0
  counts.delete(name) // moves the name to the end
  counts.set(name, before + by)
  if (counts.size > MAX_COUNTED_QUESTIONS) counts.delete(counts.keys().next().value ?? '')
  return before
}

function dropConnection(reply: FastifyReply): FastifyReply {
  reply.hijack()
  reply.raw.destroy()
  return reply
}

/** Half of a document, sent as a complete response or cut off by a closed connection. */
function sendTruncated(reply: FastifyReply, text: string, whole: boolean): FastifyReply {
  const half = Buffer.from(text).subarray(0, Math.floor(text.length / 2))
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'application/json', 'content-length': whole ? half.length : text.length })
  if (whole) reply.raw.end(half)
  else reply.raw.write(half, () => reply.raw.destroy())
  return reply
}
