/**
 * Requests take turns: one turn of the event loop begins only so many, and the others stand in line. Begun all at once, a
 * thousand of them would stand before each answer of Redis, and a request that asks Redis three times would wait for them
 * three times.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { PROBE_PATHS } from '../observability/probe-paths.ts'

/** Some ten milliseconds of small requests. */
const MAX_REQUESTS_PER_TURN = 32

/** To be added before the guard, whose hooks then stand before these: who is refused does not wait for it. */
export const requestAdmission = fastifyPlugin(
  async (app) => {
    const line = new AdmissionQueue()
    app.addHook('onRoute', (route) => {
      if (PROBE_PATHS.has(route.url)) return // they ask whether the process answers, not how long the line is
      const stand = (_request: FastifyRequest, _reply: FastifyReply, done: () => void) => line.admit(done)
      route.onRequest = [stand, ...[route.onRequest ?? []].flat()]
    })
  },
  { name: 'request-admission' },
)

/** First come, first served. */
class AdmissionQueue {
  readonly #waiting: (() => void)[] = []
  #admittedThisTurn = 0
  #isTurnScheduled = false

  admit(begin: () => void): void {
    if (!this.#isTurnScheduled) {
      this.#isTurnScheduled = true
      setImmediate(this.#startNextTurn)
    }
    if (this.#admittedThisTurn < MAX_REQUESTS_PER_TURN) {
      this.#admittedThisTurn++
      begin()
    } else this.#waiting.push(begin)
  }

  readonly #startNextTurn = (): void => {
    const now = this.#waiting.splice(0, MAX_REQUESTS_PER_TURN)
    this.#admittedThisTurn = now.length
    this.#isTurnScheduled = now.length > 0
    if (this.#isTurnScheduled) setImmediate(this.#startNextTurn)
    for (const begin of now) begin()
  }
}
