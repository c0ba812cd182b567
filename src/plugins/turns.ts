/**
 * Requests take turns: one turn of the event loop begins only so many, and the others stand in line. Begun all at once, a
 * thousand of them would stand before each answer of Redis, and a request that asks Redis three times would wait for them
 * three times.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { PROBES } from './probes.ts'

/** Some ten milliseconds of small requests. */
const BEGUN_AT_ONCE = 32

/** To be added before the guard, whose hooks then stand before these: who is refused does not wait for it. */
export function addTurns(app: FastifyInstance): void {
  const line = new Line()
  app.addHook('onRoute', (route) => {
    if (PROBES.has(route.url)) return // they ask whether the process answers, not how long the line is
    const stand = (_request: FastifyRequest, _reply: FastifyReply, done: () => void) => line.stand(done)
    route.onRequest = [stand, ...[route.onRequest ?? []].flat()]
  })
}

/** First come, first served. */
class Line {
  readonly #waiting: (() => void)[] = []
  #begun = 0
  #turning = false

  stand(begin: () => void): void {
    if (!this.#turning) {
      this.#turning = true
      setImmediate(this.#turn)
    }
    if (this.#begun < BEGUN_AT_ONCE) {
      this.#begun++
      begin()
    } else this.#waiting.push(begin)
  }

  readonly #turn = (): void => {
    const now = this.#waiting.splice(0, BEGUN_AT_ONCE)
    this.#begun = now.length
    this.#turning = now.length > 0
    if (this.#turning) setImmediate(this.#turn)
    for (const begin of now) begin()
  }
}
