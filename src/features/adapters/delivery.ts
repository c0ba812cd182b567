/** Whether the answer to a call has left on a connection that was still open. */
import type { FastifyReply } from 'fastify'

/** Resolves once the answer has left (true), or the client has gone before (false); never rejects. */
export type Delivery = Promise<boolean>

export function observeDelivery({ raw }: Pick<FastifyReply, 'raw'>): Delivery {
  return new Promise((resolve) => {
    raw.once('finish', () => resolve(true))
    raw.once('close', () => resolve(raw.writableFinished))
  })
}
