/** What answers each request: counts it, lets happen to it what should, and says what there is to say. */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { type Behaviour, delayOf, type Mishap, mishapOf } from './behaviour.ts'
import { type ChatRequest, chatChunks, chatCompletion, problem, questionOf, type Sample } from './chat.ts'
import { complete } from './completion.ts'
import type { Knowledge } from './knowledge.ts'
import { newTally } from './tally.ts'

/** Questions whose requests are counted; the oldest give way. */
const COUNTED = 100_000

export class Model {
  readonly tally = newTally()
  readonly #behaviour: Behaviour
  readonly #knowledge: Knowledge
  readonly #requests = new Map<string, number>()
  readonly #samples = new Map<string, number>()

  constructor(behaviour: Behaviour, knowledge: Knowledge) {
    this.#behaviour = behaviour
    this.#knowledge = knowledge
  }

  async chat(request: ChatRequest, reply: FastifyReply): Promise<unknown> {
    const question = questionOf(request)
    const attempt = countUp(this.#requests, question)
    this.tally.requests++
    await this.#hold(question, attempt)
    const mishap = mishapOf(this.#behaviour, question, attempt)
    if (mishap) this.tally[mishap]++
    if (mishap && mishap !== 'broken_json' && mishap !== 'closed') return this.#refuse(mishap, reply)
    if (mishap === 'closed' && attempt % 2 === 0) return drop(reply)
    const said = {
      id: `chatcmpl-${randomUUID()}`,
      behaviour: this.#behaviour,
      request,
      samples: await this.#samplesFor(request, question, mishap),
    }
    if (mishap) return sendHalf(reply, JSON.stringify(chatCompletion(said)), mishap === 'broken_json')
    if (!request.stream) return chatCompletion(said)
    return reply.type('text/event-stream').send(Readable.from(chatChunks(said)))
  }

  async #samplesFor(request: ChatRequest, question: string, mishap: Mishap | undefined): Promise<Sample[]> {
    const item = await this.#knowledge(question)
    if (!item) this.tally.unknown++
    const count = request.n ?? 1
    // What does not arrive is no sample: it comes with the next request.
    const first =
      request.seed ?? (mishap ? (this.#samples.get(question) ?? 0) : countUp(this.#samples, question, count))
    return Array.from({ length: count }, (_, k) => {
      const sample = first + k
      const most = request.max_completion_tokens ?? request.max_tokens ?? undefined
      const completion = complete(this.#behaviour, item, sample, most)
      if (!mishap) this.tally[completion.outcome.kind]++
      return { sample, completion }
    })
  }

  async #hold(question: string, attempt: number): Promise<void> {
    const ms = delayOf(this.#behaviour, question, attempt)
    if (ms > this.#behaviour.latencyMs) this.tally.slow++
    if (ms > 0) await sleep(ms)
  }

  #refuse(mishap: 'rejected' | 'rate_limited' | 'server_error', reply: FastifyReply): FastifyReply {
    switch (mishap) {
      case 'rejected':
        return reply.status(400).send(problem('This model takes no such prompt', 'context_length_exceeded'))
      case 'rate_limited':
        reply.header('retry-after', this.#behaviour.retryAfterS)
        return reply.status(429).send(problem('Rate limit reached, try again later', 'rate_limit_exceeded'))
      case 'server_error':
        return reply.status(500).send(problem('The server had an error', 'server_error'))
    }
  }
}

/** How often this name was counted before. */
function countUp(counts: Map<string, number>, name: string, by = 1): number {
  const before = counts.get(name) ?? 0
  counts.delete(name) // to the end of the line
  counts.set(name, before + by)
  if (counts.size > COUNTED) counts.delete(counts.keys().next().value ?? '')
  return before
}

function drop(reply: FastifyReply): FastifyReply {
  reply.hijack()
  reply.raw.destroy()
  return reply
}

/** Half of a document: told as if it were whole, or cut off in the middle. */
function sendHalf(reply: FastifyReply, text: string, whole: boolean): FastifyReply {
  const half = Buffer.from(text).subarray(0, Math.floor(text.length / 2))
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'application/json', 'content-length': whole ? half.length : text.length })
  if (whole) reply.raw.end(half)
  else reply.raw.write(half, () => reply.raw.destroy())
  return reply
}
