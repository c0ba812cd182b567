/**
 * The groups that responses are sending, unpacked once for all concurrent readers, within the memory for responses. A
 * group is read from Redis only when its memory is reserved, and dropped when its last reader is done.
 */
import type { ReplyMemoryLimiter, ReplyReservation } from '../../platform/client-memory/reply-memory-limiter.ts'
import type { EventLoopBudget } from '../../platform/event-loop-budget.ts'
import type { ArrayEncoding } from '../rollouts/group-payload.ts'
import type { BatchRepository, RunRef } from './repository.ts'
import { estimateUnpackedBytes, measureUnpackedBytes, UnpackedGroup } from './unpacked-group.ts'

/** A reader's use of a group. Every handle must be closed. */
export interface UnpackedGroupHandle {
  /** Resolves to undefined if the batch was acknowledged in the meantime. */
  group: Promise<UnpackedGroup | undefined>
  close(): void
}

interface SharedGroup {
  readers: number
  isClosed: boolean
  reservation: ReplyReservation | undefined
  group: Promise<UnpackedGroup | undefined>
}

export class UnpackedGroups {
  readonly #batches: BatchRepository
  readonly #memory: ReplyMemoryLimiter
  readonly #slices: EventLoopBudget
  readonly #shared = new Map<string, SharedGroup>()

  constructor(batches: BatchRepository, memory: ReplyMemoryLimiter, slices: EventLoopBudget) {
    this.#batches = batches
    this.#memory = memory
    this.#slices = slices
  }

  /** Starts to unpack a group, or joins the readers of a group that is being unpacked. */
  unpack(run: RunRef, id: string, encoding: ArrayEncoding): UnpackedGroupHandle {
    const key = JSON.stringify([run.name, run.epoch, id, encoding])
    const shared = this.#shared.get(key) ?? this.#create(key, run, id, encoding)
    shared.readers++
    let isClosed = false
    const close = () => {
      if (isClosed) return
      isClosed = true
      if (--shared.readers > 0) return
      if (this.#shared.get(key) === shared) this.#shared.delete(key)
      shared.isClosed = true
      void shared.group.then((group) => group?.close()).catch(() => {}) // its readers have received the error
      shared.reservation?.release()
    }
    return { group: shared.group, close }
  }

  #create(key: string, run: RunRef, id: string, encoding: ArrayEncoding): SharedGroup {
    const shared: SharedGroup = {
      readers: 0,
      isClosed: false,
      reservation: undefined,
      group: Promise.resolve(undefined),
    }
    this.#shared.set(key, shared)
    shared.group = this.#load(shared, run, id, encoding)
    shared.group.catch(() => this.#shared.get(key) === shared && this.#shared.delete(key)) // the next reader tries again
    return shared
  }

  /**
   * The actual size of arrays is known only once they are read. If it exceeds the reservation, they are read again with
   * a larger one.
   */
  async #load(
    shared: SharedGroup,
    run: RunRef,
    id: string,
    encoding: ArrayEncoding,
  ): Promise<UnpackedGroup | undefined> {
    const sizes = await this.#batches.getGroupSizes(run, id)
    if (!sizes) return undefined
    for (let bytes = estimateUnpackedBytes(sizes, encoding); !shared.isClosed; ) {
      const reservation = this.#memory.reserve(bytes)
      shared.reservation = reservation
      await reservation.granted
      const packed = shared.isClosed ? undefined : await this.#batches.getGroup(run, id)
      if (!packed || shared.isClosed) return undefined
      const needed = measureUnpackedBytes(packed, encoding)
      if (needed <= bytes) {
        reservation.shrinkTo(needed)
        return this.#slices.run(() => new UnpackedGroup(id, packed, encoding))
      }
      reservation.release()
      bytes = needed
    }
    return undefined
  }
}
