/** Groups come in: checked, accepted by one script, put on the queue; and can be waited for. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Fault } from '../faults.ts'
import type { Items } from '../items/items.ts'
import type { Producer } from '../queue/producer.ts'
import type { Completions } from '../store/completions.ts'
import { type Bounds, type GroupPlace, type Groups, jobIdOf } from '../store/groups.ts'
import { pack, releaseBlobs } from '../store/payload.ts'
import type { Room } from '../store/room.ts'
import { decodeItemId } from '../words/item-id.ts'
import { type Recipe, TRAINING_SEEDS_START } from '../words/recipe.ts'
import { type Group, type GroupInput, releaseTokens } from '../words/rollout.ts'
import type { OpenRun } from './open-run.ts'
import { bufferFull, bufferFullUnread, changing, conflict, serverFull } from './refusals.ts'
import type { RunBook } from './run-book.ts'
import { positionOf } from './sequence.ts'

interface Parts {
  runs: RunBook
  items: Items
  groups: Groups
  producer: Producer
  room: Room
  completions: Completions
  onHintLost: (error: unknown) => void
}

/** A group that was accepted, now or before. */
export interface Accepted {
  place: GroupPlace
  itemId: string
  isNew: boolean
  textBytes: number
}

/** A run may be changed while a group comes. */
const TRIES = 5
/** Groups that are packed before others have their turn: some milliseconds. */
const PACKED_AT_ONCE = 4

export class Intake {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Accepts groups, and answers them as they stand after the wait. */
  async post(runName: string, inputs: GroupInput[], waitMs: number): Promise<Group[]> {
    return this.answer(await this.accept(runName, inputs), waitMs)
  }

  /**
   * Accepts groups; all are checked before the first is accepted. Where one is refused the others are accepted all the
   * same: sent again, they are known. Throws the first refusal. `request` is its id, for the log. Their tokens, masks and
   * log-probabilities are empty afterwards.
   */
  async accept(runName: string, inputs: GroupInput[], request?: string): Promise<Accepted[]> {
    const { items, runs, room, producer } = this.#parts
    for (const { item_id } of inputs) await items.open(item_id)
    const run = await runs.lately(runName)
    const full = await room.isFull()
    const accepting: Promise<PromiseSettledResult<Accepted>>[] = []
    for (const input of inputs) {
      accepting.push(settled(this.#accept(run, input, full)))
      if (accepting.length % PACKED_AT_ONCE === 0) await nextTurn()
    }
    const settledAll = await Promise.all(accepting)
    for (const { rollouts } of inputs) rollouts.forEach(releaseTokens)
    const accepted = settledAll.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const hints = accepted.map(({ place, textBytes }) => ({
      id: jobIdOf(place),
      data: { ...place, request, text_bytes: textBytes },
    }))
    // Accepted is accepted: nobody waits until the queue is told, and if it cannot be told now, the sweeper tells it.
    producer.add('score-group', hints).catch(this.#parts.onHintLost)
    const refused = settledAll.find((one) => one.status === 'rejected')
    if (refused) throw refused.reason
    return accepted
  }

  /** Accepted groups as they stand after the wait. */
  answer(accepted: Accepted[], waitMs: number): Promise<Group[]> {
    const until = performance.now() + waitMs
    return Promise.all(
      accepted.map(({ place, itemId, isNew }) =>
        isNew && waitMs <= 0
          ? Promise.resolve(queued(place, itemId))
          : this.look(place, until - performance.now(), itemId),
      ),
    )
  }

  /** Throws `buffer_full` if the run has no place for one more group: to be asked before a large body is read. */
  async assertRoom(runName: string): Promise<void> {
    const { runs, room } = this.#parts
    if (await room.isFull()) throw serverFull(room.mostBytes)
    if (await runs.isFull(runName)) throw bufferFullUnread(runName)
  }

  /**
   * A group as it stands, or as it is once done, if that is within `waitMs`. Throws `unknown_group`, also for one that is no
   * longer kept, unless the caller knows its item: then it comes without its verdicts.
   */
  async look(place: GroupPlace, waitMs = 0, itemId?: string): Promise<Group> {
    const expected = waitMs > 0 ? this.#parts.completions.expect(place, waitMs) : undefined
    try {
      const group = await this.#find(place, itemId)
      if (group.status !== 'queued' || !expected) return group
      await expected.promise
      return await this.#find(place, itemId)
    } finally {
      expected?.cancel()
    }
  }

  async #accept(lately: OpenRun, input: GroupInput, full: boolean): Promise<Accepted> {
    const { runs, room } = this.#parts
    const { name } = lately
    for (let run = lately, k = 0; k < TRIES; run = await runs.ensure(name), k++) {
      const { place, packed, acceptance } = await this.#offer(run, input, full)
      const { textBytes } = packed
      const bytes = packed.texts.byteLength + packed.arrays.byteLength
      releaseBlobs(packed) // Redis has answered: they are not sent again
      switch (acceptance) {
        case 'new':
          room.add(bytes)
          return { place, itemId: input.item_id, isNew: true, textBytes }
        case 'known':
          return { place, itemId: input.item_id, isNew: false, textBytes }
        case 'conflict':
          throw conflict(name, place.group)
        case 'full':
          throw full ? serverFull(room.mostBytes) : bufferFull(name)
        case 'changed': // read anew and offered again: what it is packed and bounded by may be different
          continue
      }
    }
    throw changing(name)
  }

  async #offer(run: OpenRun, input: GroupInput, full: boolean) {
    const { name, epoch, revision, settings } = run
    const wants = input.buffer ?? settings.buffer
    const packed = pack(input, wants)
    const place = { run: name, epoch, group: input.group_id ?? packed.hash.slice(0, 32) }
    const lease = leaseOf(run, decodeItemId(input.item_id))
    const { rollouts } = input
    const bounds = { revision, rollouts: rollouts.length, wants, most: settings.buffer_max_groups, full, lease }
    return { place, packed, acceptance: await this.#parts.groups.accept(place, packed, bounds) }
  }

  async #find(place: GroupPlace, itemId: string | undefined): Promise<Group> {
    const stored = await this.#parts.groups.find(place)
    if (!stored)
      throw new Fault('unknown_group', `Run ${place.run} has no group ${place.group}, or it is no longer kept`)
    const { status, destination, about, result } = stored
    const item_id = about?.item_id ?? itemId
    if (item_id === undefined) throw new Fault('unknown_group', `Group ${place.group} was seen, but is no longer kept`)
    return { ...identityOf(place, item_id), ...result, status, destination }
  }
}

/** Where an item would stand in the run's sequence; undefined if it is of none. */
function leaseOf({ origin, settings }: OpenRun, { task, seed }: Recipe): Bounds['lease'] {
  return seed < TRAINING_SEEDS_START ? undefined : { position: positionOf({ origin, seed: settings.seed }, seed), task }
}

function identityOf({ run, group }: GroupPlace, itemId: string) {
  const { task, difficulty } = decodeItemId(itemId)
  return { group_id: group, run, item_id: itemId, task, difficulty }
}

function queued(place: GroupPlace, itemId: string): Group {
  return { ...identityOf(place, itemId), status: 'queued', destination: null }
}

async function settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [one] = await Promise.allSettled([promise])
  return one
}
