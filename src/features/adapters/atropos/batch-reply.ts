/**
 * Builds the response to `GET /batch`. It is never an error that would end the trainer; the trainer retries while the
 * batch is null.
 */
import { Readable } from 'node:stream'
import { isTemporaryFailure } from '@reasoning-gym-server/contract/errors'
import { translateRedisError } from '../../../platform/redis/redis-errors.ts'
import type { Batch } from './store-schemas.ts'

/** A batch in flight: its bytes, and the callbacks for when it is known whether they can be made. */
export interface OutgoingBatch {
  chunks: AsyncGenerator<Buffer>
  /** Starts watching the delivery, once the bytes can be made. */
  begin(): void
  /** Returns the batch to the store if its bytes cannot be made. */
  giveBack(): Promise<void>
}

/** Builds the reply. `take` returns a batch, or the answer to send in its place. */
export async function buildBatchReply(take: () => Promise<OutgoingBatch | Batch>): Promise<Batch | Readable> {
  try {
    const taken = await take()
    if (!('chunks' in taken)) return taken
    const first = await taken.chunks.next().catch(async (error: unknown) => {
      await taken.giveBack()
      throw error
    })
    taken.begin()
    const stream = Readable.from(startWith(first.value, taken.chunks), { objectMode: false })
    // A stream that was never read does not close them, and their memory would stay reserved.
    stream.once('close', () => void taken.chunks.return(undefined).catch(() => {}))
    return stream
  } catch (cause) {
    const error = translateRedisError(cause)
    if (!isTemporaryFailure(error)) throw error
    return { message: error.message, batch: null }
  }
}

async function* startWith(first: Buffer | undefined, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (first) yield first
  yield* rest
}
