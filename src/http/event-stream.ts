/**
 * Server-sent events for one listener. A slow listener misses events instead of growing a buffer: the rule that
 * @fastify/sse does not have, since it waits for the listener or buffers.
 */
import { PassThrough } from 'node:stream'
import type { FastifyReply } from 'fastify'

const MAX_BUFFERED_BYTES = 256 * 1024

/** Headers of every event stream. */
export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no', // tells proxies not to buffer it
}

export class EventStream {
  readonly #body = new PassThrough({ highWaterMark: MAX_BUFFERED_BYTES })
  readonly closed: Promise<void>

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.closed = promise
    this.#body.once('close', resolve)
    this.#body.once('error', resolve)
  }

  send(event: string, value: unknown): void {
    if (this.#body.writable && !this.#body.writableNeedDrain)
      this.#body.write(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`)
  }

  /** Sends this stream as the response; it ends when the listener leaves or `end` is called. */
  sendAsReply(reply: FastifyReply): FastifyReply {
    return reply.headers(EVENT_STREAM_HEADERS).send(this.#body)
  }

  end(): void {
    this.#body.end()
  }
}
