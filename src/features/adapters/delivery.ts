/** Tracks whether the answer to a call was sent on a connection that was still open. */
import type { FastifyReply } from 'fastify'

/**
 * Resolves to true once the response is sent, or to false if the client disconnected or got an error. Never rejects.
 */
export type Delivery = Promise<boolean>

export function observeDelivery({ raw }: Pick<FastifyReply, 'raw'>): Delivery {
  return new Promise((resolve) => {
    if (raw.destroyed) resolve(false)
    raw.once('finish', () => resolve(raw.statusCode < 400))
    raw.once('close', () => resolve(raw.writableFinished && raw.statusCode < 400))
  })
}
