/** Groups come in: checked, accepted by one script, put on the queue; and can be waited for. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../../contract/errors.ts'
import { decodeItemId } from '../../contract/item-id.ts'
import { type Recipe, TRAINING_SEEDS_START } from '../../contract/recipe.ts'
import { detachTokenLists, type Group, type GroupSubmission } from '../../contract/rollout.ts'
import type { Producer } from '../../platform/queue/producer.ts'
import type { Items } from '../items/items.ts'
import type { ResolvedRun } from '../runs/resolved-run.ts'
import { runContendedError } from '../runs/run-errors.ts'
import type { Runs } from '../runs/runs.ts'
import { positionOfSeed } from '../runs/sequence/sequence.ts'
import type { BufferCapacity } from './buffer-capacity.ts'
import type { GroupCompletionListener } from './group-completion-listener.ts'
import { detachPayloadBuffers, packGroup } from './group-payload.ts'
import { scoreGroupJob } from './jobs/definitions.ts'
import { type AcceptGroupParams, formatScoreJobId, type GroupRef, type GroupRepository } from './repository.ts'
import {
  bufferFullBeforeBodyError,
  bufferFullError,
  groupConflictError,
  serverBufferFullError,
} from './submission-errors.ts'

interface RolloutSubmissionDeps {
  runs: Runs
  items: Items
  groups: GroupRepository
  producer: Producer
  capacity: BufferCapacity
  completions: GroupCompletionListener
  onEnqueueError: (error: unknown) => void
}

/** A group that was accepted, now or before. */
export interface AcceptedGroup {
  place: GroupRef
  itemId: string
  isNew: boolean
  textBytes: number
}

/** A run may be changed while a group comes. */
const ACCEPT_RETRY_LIMIT = 5
/** Groups that are packed before others have their turn: some milliseconds. */
const PACK_CHUNK_SIZE = 4

export class RolloutSubmission {
  readonly #deps: RolloutSubmissionDeps

  constructor(parts: RolloutSubmissionDeps) {
    this.#deps = parts
  }

  /** Accepts groups, and answers them as they stand after the wait. */
  async submitAndWait(runName: string, inputs: GroupSubmission[], waitMs: number): Promise<Group[]> {
    return this.waitForGroups(await this.submit(runName, inputs), waitMs)
  }

  /**
   * Accepts groups; all are checked before the first is accepted. Where one is refused the others are accepted all the
   * same: sent again, they are known. Throws the first refusal. `request` is its id, for the log. Their tokens, masks and
   * log-probabilities are empty afterwards.
   */
  async submit(runName: string, inputs: GroupSubmission[], request?: string): Promise<AcceptedGroup[]> {
    const { items, runs, capacity: room, producer } = this.#deps
    for (const { item_id } of inputs) await items.resolveItemId(item_id)
    const run = await runs.getCached(runName)
    const full = await room.isFull()
    const accepting: Promise<PromiseSettledResult<AcceptedGroup>>[] = []
    for (const input of inputs) {
      accepting.push(settle(this.#submitOne(run, input, full)))
      if (accepting.length % PACK_CHUNK_SIZE === 0) await nextTurn()
    }
    const settledAll = await Promise.all(accepting)
    for (const { rollouts } of inputs) rollouts.forEach(detachTokenLists)
    const accepted = settledAll.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const hints = accepted.map(({ place, textBytes }) => ({
      id: formatScoreJobId(place),
      data: { ...place, request, text_bytes: textBytes },
    }))
    // Accepted is accepted: nobody waits until the queue is told, and if it cannot be told now, the sweeper tells it.
    producer.add(scoreGroupJob, hints).catch(this.#deps.onEnqueueError)
    const refused = settledAll.find((one) => one.status === 'rejected')
    if (refused) throw refused.reason
    return accepted
  }

  /** Accepted groups as they stand after the wait. */
  waitForGroups(accepted: AcceptedGroup[], waitMs: number): Promise<Group[]> {
    const until = performance.now() + waitMs
    return Promise.all(
      accepted.map(({ place, itemId, isNew }) =>
        isNew && waitMs <= 0
          ? Promise.resolve(buildQueuedGroup(place, itemId))
          : this.requireGroup(place, until - performance.now(), itemId),
      ),
    )
  }

  /** Throws `buffer_full` if the run has no place for one more group: to be asked before a large body is read. */
  async assertCapacity(runName: string): Promise<void> {
    const { runs, capacity: room } = this.#deps
    if (await room.isFull()) throw serverBufferFullError(room.maxBytes)
    if (await runs.isBufferFull(runName)) throw bufferFullBeforeBodyError(runName)
  }

  /** The same for a group of a run in its current epoch. Throws `unknown_run` as well. */
  async requireGroupOfRun(runName: string, group: string, waitMs: number): Promise<Group> {
    const { name, epoch } = await this.#deps.runs.require(runName)
    return this.requireGroup({ run: name, epoch, group }, waitMs)
  }

  /**
   * A group as it stands, or as it is once done, if that is within `waitMs`. Throws `unknown_group`, also for one that is no
   * longer kept, unless the caller knows its item: then it comes without its verdicts.
   */
  async requireGroup(place: GroupRef, waitMs = 0, itemId?: string): Promise<Group> {
    const expected = waitMs > 0 ? this.#deps.completions.waitForGroup(place, waitMs) : undefined
    try {
      const group = await this.#loadGroup(place, itemId)
      if (group.status !== 'queued' || !expected) return group
      await expected.promise
      return await this.#loadGroup(place, itemId)
    } finally {
      expected?.cancel()
    }
  }

  async #submitOne(lately: ResolvedRun, input: GroupSubmission, full: boolean): Promise<AcceptedGroup> {
    const { runs, capacity: room } = this.#deps
    const { name } = lately
    for (let run = lately, k = 0; k < ACCEPT_RETRY_LIMIT; run = await runs.getOrCreate(name), k++) {
      const { place, packed, acceptance } = await this.#tryAccept(run, input, full)
      const { textBytes } = packed
      const bytes = packed.texts.byteLength + packed.arrays.byteLength
      detachPayloadBuffers(packed) // Redis has answered: they are not sent again
      switch (acceptance) {
        case 'new':
          room.addStoredBytes(bytes)
          return { place, itemId: input.item_id, isNew: true, textBytes }
        case 'duplicate':
          return { place, itemId: input.item_id, isNew: false, textBytes }
        case 'conflict':
          throw groupConflictError(name, place.group)
        case 'buffer_full':
          throw full ? serverBufferFullError(room.maxBytes) : bufferFullError(name)
        case 'run_changed': // retried with the new settings: the payload and the limits may be different
          continue
      }
    }
    throw runContendedError(name)
  }

  async #tryAccept(run: ResolvedRun, input: GroupSubmission, full: boolean) {
    const { name, epoch, revision, settings } = run
    const forBuffer = input.buffer ?? settings.buffer
    const packed = packGroup(input, forBuffer)
    const place = { run: name, epoch, group: input.group_id ?? packed.contentHash.slice(0, 32) }
    const lease = getLease(run, decodeItemId(input.item_id))
    const { rollouts } = input
    const maxGroups = settings.buffer_max_groups
    const params = { revision, rollouts: rollouts.length, forBuffer, maxGroups, serverFull: full, lease }
    return { place, packed, acceptance: await this.#deps.groups.accept(place, packed, params) }
  }

  async #loadGroup(place: GroupRef, itemId: string | undefined): Promise<Group> {
    const stored = await this.#deps.groups.get(place)
    if (!stored)
      throw new ServiceError('unknown_group', `Run ${place.run} has no group ${place.group}, or it is no longer kept`)
    const { status, destination, metadata: about, result } = stored
    const item_id = about?.item_id ?? itemId
    if (item_id === undefined)
      throw new ServiceError('unknown_group', `Group ${place.group} was seen, but is no longer kept`)
    return { ...buildGroupIdentity(place, item_id), ...result, status, destination }
  }
}

/** Where an item would stand in the run's sequence; undefined if it is of none. */
function getLease({ origin, settings }: ResolvedRun, { task, seed }: Recipe): AcceptGroupParams['lease'] {
  return seed < TRAINING_SEEDS_START
    ? undefined
    : { position: positionOfSeed({ origin, seed: settings.seed }, seed), task }
}

function buildGroupIdentity({ run, group }: GroupRef, itemId: string) {
  const { task, difficulty } = decodeItemId(itemId)
  return { group_id: group, run, item_id: itemId, task, difficulty }
}

function buildQueuedGroup(place: GroupRef, itemId: string): Group {
  return { ...buildGroupIdentity(place, itemId), status: 'queued', destination: null }
}

async function settle<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [one] = await Promise.allSettled([promise])
  return one
}
