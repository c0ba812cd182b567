/** Server-sent events: what is said to one listener. A slow one misses what it has no room for, and no memory grows. */
import { PassThrough } from 'node:stream'
import type { FastifyReply } from 'fastify'

const MAX_BUFFERED_BYTES = 256 * 1024

/** Of every answer that is a stream of events. */
export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no', // proxies would hold it back
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

  /** Answers with this stream; it ends when the listener goes or `end` is called. */
  sendAsReply(reply: FastifyReply): FastifyReply {
    return reply.headers(EVENT_STREAM_HEADERS).send(this.#body)
  }

  end(): void {
    this.#body.end()
  }
}
