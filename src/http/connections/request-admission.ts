/**
 * Limits how many requests start in one turn of the event loop; the rest wait in a queue.
 *
 * Symptom: a thousand requests that start in one turn are all ahead of every reply of Redis that they wait for.
 * Gain: p99 of W7 908 ms, without it 1,795 ms; 1.35 to 1.55 times the requests of W1 (docs/design/performance.md).
 * Measure: npm run bench -- --only score,connections [--without request-admission]
 * Delete when: both W1 and the p99 of W7 change by less than a tenth.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { PROBE_PATHS } from '../rate-limit.ts'

/** Some ten milliseconds of small requests. */
const MAX_REQUESTS_PER_TURN = 32

/** Comes before authorization, whose hooks then run first: a rejected request does not wait. */
export const requestAdmission = fastifyPlugin(
  async (app) => {
    const queue = new AdmissionQueue()
    app.addHook('onRoute', (route) => {
      if (PROBE_PATHS.has(route.url)) return // probes measure whether the process responds, not the length of the queue
      const admit = (_request: FastifyRequest, _reply: FastifyReply, done: () => void) => queue.admit(done)
      route.onRequest = [admit, ...[route.onRequest ?? []].flat()]
    })
  },
  { name: 'request-admission' },
)

/** First come, first served. */
class AdmissionQueue {
  readonly #waiting: (() => void)[] = []
  #admittedThisTurn = 0
  #isTurnScheduled = false

  admit(start: () => void): void {
    if (!this.#isTurnScheduled) {
      this.#isTurnScheduled = true
      setImmediate(this.#startNextTurn)
    }
    if (this.#admittedThisTurn < MAX_REQUESTS_PER_TURN) {
      this.#admittedThisTurn++
      start()
    } else this.#waiting.push(start)
  }

  readonly #startNextTurn = (): void => {
    const admitted = this.#waiting.splice(0, MAX_REQUESTS_PER_TURN)
    this.#admittedThisTurn = admitted.length
    this.#isTurnScheduled = admitted.length > 0
    if (this.#isTurnScheduled) setImmediate(this.#startNextTurn)
    for (const start of admitted) start()
  }
}
