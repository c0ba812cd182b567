/** Submits groups for scoring: validates them, accepts each with one Redis script, enqueues them and waits for results. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Caller } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { type Recipe, TRAINING_SEEDS_START } from '@reasoning-gym-server/contract/recipe'
import { detachTokenLists, type Group, type GroupSubmission } from '@reasoning-gym-server/contract/rollout'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import type { Grader } from '../../grading/grader.ts'
import type { Notifications } from '../../platform/redis/notifications.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import type { Tracing } from '../../platform/telemetry/tracing.ts'
import type { Items } from '../items/items.ts'
import { runContendedError, runRestoredError } from '../runs/errors.ts'
import type { Runs } from '../runs/runs.ts'
import { positionOfSeed } from '../runs/sequence/sequence.ts'
import type { ResolvedRun } from '../runs/types.ts'
import { detachPayloadBuffers, packGroup, type SubmittedGroup } from './group-payload.ts'
import type { EnqueueGroup } from './jobs.ts'
import { formatGroupPath, type GroupRef } from './records.ts'
import type { AcceptGroupParams, GroupRepository } from './repository.ts'
import { createUnknownGroupError } from './retained-groups.ts'
import type { ServerBuffer } from './server-buffer.ts'

interface RolloutSubmissionDeps {
  runs: Runs
  items: Items
  groups: GroupRepository
  grader: Pick<Grader, 'isNative'>
  enqueue: EnqueueGroup
  capacity: ServerBuffer
  notifications: Notifications
  tracing: Pick<Tracing, 'getTraceparent'>
  onEnqueueError: (error: unknown) => void
}

/** A group accepted by this call or by an earlier one. */
interface AcceptedGroup {
  ref: GroupRef
  item: GroupItem
  isNew: boolean
  textBytes: number
  /** Time of the post, in milliseconds. */
  postedAt: number
}

/** The item of a group: its ID as it was posted, and the recipe that the ID encodes. */
interface GroupItem {
  id: string
  recipe: Readonly<Recipe>
}

/** A group of a request, whose item ID is decoded once. */
interface PostedGroup {
  input: SubmittedGroup
  item: GroupItem
}

interface SubmitOptions {
  request?: string
  condition?: RunCondition | undefined
  /** Caller whose runs are named if there is no run of that name. */
  caller?: Caller | undefined
  /**
   * The run in which the server gathered the groups. If it was restored or rewound since, they are rejected (`run_changed`). Their
   * turns were answered under the settings of then, so they are not counted again.
   */
  gatheredIn?: ResolvedRun | undefined
}

/** Limit of retries after the run's settings change while a group is accepted. */
const ACCEPT_RETRY_LIMIT = 5
/** Number of groups packed before yielding to the event loop, which takes a few milliseconds. */
const PACK_CHUNK_SIZE = 4

export class RolloutSubmission {
  readonly #deps: RolloutSubmissionDeps

  constructor(deps: RolloutSubmissionDeps) {
    this.#deps = deps
  }

  /** Accepts groups and returns their state after at most `waitMs`. */
  async submitAndWait(
    runName: string,
    inputs: GroupSubmission[],
    waitMs: number,
    condition?: RunCondition,
  ): Promise<Group[]> {
    return this.waitForGroups(await this.submit(runName, inputs, { condition }), waitMs)
  }

  /**
   * Accepts groups, after validating all of them. If one is rejected, the others are still accepted; if the client
   * sends them again, they count as duplicates. Throws the first rejection. Afterward, the tokens, masks and
   * log-probabilities of `inputs` are empty.
   */
  async submit(
    runName: string,
    inputs: SubmittedGroup[],
    { request, condition, caller, gatheredIn }: SubmitOptions = {},
  ): Promise<AcceptedGroup[]> {
    const { items, runs, capacity, grader, enqueue, tracing, onEnqueueError } = this.#deps
    const groups: PostedGroup[] = []
    for (const input of inputs) {
      groups.push({ input, item: { id: input.item_id, recipe: await items.resolveItemId(input.item_id) } })
    }
    const turns = gatheredIn === undefined ? countTurns(inputs) : 1
    // no script compares the revision before a rejection for too many turns
    const run = await runs.requireOrCreateDefault(runName, condition, { fresh: turns > 1, caller })
    assertTurns(turns, run.settings.tries)
    const serverFull = await capacity.isFull()
    const submissions: Promise<PromiseSettledResult<AcceptedGroup>>[] = []
    for (const group of groups) {
      submissions.push(settle(this.#submitOne(run, group, { serverFull, condition, gatheredIn })))
      if (submissions.length % PACK_CHUNK_SIZE === 0) await nextTurn()
    }
    const outcomes = await Promise.all(submissions)
    for (const { rollouts } of inputs) rollouts.forEach(detachTokenLists)
    const accepted = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    // The groups are already accepted, so the caller does not wait for the queue. If enqueueing fails, the sweeper
    // retries.
    const traceparent = request === undefined ? undefined : tracing.getTraceparent()
    for (const { ref, item, textBytes } of accepted) {
      const canShare = grader.isNative(item.recipe.task) // the others take long, and share the engines of all workers
      enqueue({ ...ref, request, traceparent, text_bytes: textBytes, canShare }).catch(onEnqueueError)
    }
    const rejection = outcomes.find((outcome) => outcome.status === 'rejected')
    if (rejection) throw rejection.reason
    return accepted
  }

  /** Returns the state of accepted groups after at most `waitMs`. */
  waitForGroups(accepted: AcceptedGroup[], waitMs: number): Promise<Group[]> {
    const deadline = performance.now() + waitMs
    return Promise.all(
      accepted.map(({ ref, item, isNew, postedAt }) =>
        isNew && waitMs <= 0
          ? Promise.resolve<Group>({ ...buildGroupIdentity(ref, item), status: 'queued', destination: null })
          : this.#requireAccepted({ ref, item, postedAt }, deadline - performance.now()),
      ),
    )
  }

  /** Throws `buffer_full` if the run cannot take another group. Call it before reading a large body. */
  async assertCapacity(runName: string): Promise<void> {
    const { runs, capacity } = this.#deps
    if (await capacity.isFull()) throw serverBufferFullError(capacity.maxBytes)
    if (await runs.isBufferFull(runName)) throw bufferFullBeforeBodyError(runName)
  }

  /** Like `requireGroup`, for a group in the run's current epoch. Also throws `unknown_run`. */
  async requireGroupOfRun(runName: string, group: string, waitMs: number, condition?: RunCondition): Promise<Group> {
    const { name, epoch } = await this.#deps.runs.require(runName, condition)
    return this.requireGroup({ run: name, epoch, group }, waitMs)
  }

  /**
   * Returns a group, waiting up to `waitMs` for its completion. Throws `unknown_group` for an unknown group, and for
   * one that is no longer retained; with `item`, the latter is returned with its rewards, without its verdicts.
   */
  async requireGroup(ref: GroupRef, waitMs = 0, item?: GroupItem): Promise<Group> {
    if (waitMs <= 0) return this.#loadGroup(ref, item)
    const loadUnlessQueued = async () => {
      const group = await this.#loadGroup(ref, item)
      return group.status === 'queued' ? undefined : group
    }
    const completed = this.#deps.notifications.poll(formatGroupPath(ref), loadUnlessQueued, { timeoutMs: waitMs })
    return (await completed) ?? this.#loadGroup(ref, item)
  }

  /** If a group is missing although its run exists, Redis has lost it. The error asks the client to post it again. */
  async #requireAccepted(
    { ref, item, postedAt }: Pick<AcceptedGroup, 'ref' | 'item' | 'postedAt'>,
    waitMs: number,
  ): Promise<Group> {
    try {
      return await this.requireGroup(ref, waitMs, item)
    } catch (cause) {
      const run = await this.#deps.runs.get(ref.run)
      const isLost = cause instanceof ServiceError && cause.code === 'unknown_group' && run?.epoch === ref.epoch
      if (!isLost) throw cause
      if ((run.counters.rewound_at ?? 0) >= postedAt) throw runRestoredError(ref.run)
      const detail = `Redis has lost the group ${ref.group}, which can happen in a failover. Post it again.`
      throw new ServiceError('redis_unavailable', detail, { cause })
    }
  }

  async #submitOne(
    cachedRun: ResolvedRun,
    group: PostedGroup,
    { serverFull, condition, gatheredIn }: Pick<SubmitOptions, 'condition' | 'gatheredIn'> & { serverFull: boolean },
  ): Promise<AcceptedGroup> {
    const { runs, capacity } = this.#deps
    const { name } = cachedRun
    const { item } = group
    const postedAt = redisNow()
    let run = cachedRun
    for (let k = 0; k < ACCEPT_RETRY_LIMIT; k++) {
      const { epoch, counters } = gatheredIn ?? run
      if (run.epoch !== epoch || run.counters.rewinds !== counters.rewinds) throw runRestoredError(name)
      const { ref, packed, acceptance } = await this.#tryAccept(run, group, serverFull)
      const { textBytes } = packed
      const bytes = packed.texts.byteLength + packed.arrays.byteLength
      detachPayloadBuffers(packed) // Redis has replied, so the buffers are no longer needed
      switch (acceptance) {
        case 'new':
          capacity.addStoredBytes(bytes)
          return { ref, item, isNew: true, textBytes, postedAt }
        case 'duplicate':
          return { ref, item, isNew: false, textBytes, postedAt }
        case 'conflict':
          throw groupConflictError(name, ref.group)
        case 'buffer_full':
          throw serverFull ? serverBufferFullError(capacity.maxBytes) : bufferFullError(name)
        case 'run_changed': // retried with the new settings: the payload and the limits may be different
          run = await runs.requireOrCreateDefault(name, condition)
      }
    }
    throw runContendedError(name)
  }

  async #tryAccept(run: ResolvedRun, { input, item }: PostedGroup, serverFull: boolean) {
    const { name, epoch, revision, settings } = run
    const forBuffer = input.buffer ?? settings.buffer
    const packed = packGroup(input, forBuffer)
    const ref = { run: name, epoch, group: input.group_id ?? packed.contentHash.slice(0, 32) }
    const lease = getLease(run, item.recipe)
    const { rollouts } = input
    const maxGroups = settings.buffer_max_groups
    const params = { revision, rollouts: rollouts.length, forBuffer, maxGroups, serverFull, lease }
    return { ref, packed, acceptance: await this.#deps.groups.accept(ref, packed, params) }
  }

  async #loadGroup(ref: GroupRef, posted: GroupItem | undefined): Promise<Group> {
    const stored = await this.#deps.groups.get(ref)
    if (!stored) throw createUnknownGroupError(ref)
    const { status, destination, rewards, metadata, result } = stored
    const item = metadata ? { id: metadata.item_id, recipe: metadata.recipe } : posted
    if (!item)
      throw new ServiceError(
        'unknown_group',
        `The group ${ref.group} was accepted earlier, but the server no longer keeps it (keep_groups). Post it under another group_id.`,
        { missing: { kind: 'group', name: ref.group } },
      )
    return { ...buildGroupIdentity(ref, item), ...result, ...(rewards && { rewards }), status, destination }
  }
}

/** The most turns that a rollout has. */
function countTurns(groups: GroupSubmission[]): number {
  const rollouts = groups.flatMap((group) => group.rollouts)
  return rollouts.reduce((most, { turns }) => Math.max(most, turns?.length ?? 1), 1)
}

function assertTurns(turns: number, tries: number): void {
  if (turns > tries)
    throw new ServiceError(
      'invalid_request',
      `A rollout has ${turns} turns in \`turns\`, and the setting \`tries\` of the run is ${tries}. Send fewer turns, or raise \`tries\`.`,
    )
}

/** Returns the position of an item in the run's sequence, or undefined if the item is not from a sequence. */
function getLease({ settings }: ResolvedRun, { task, seed }: Recipe): AcceptGroupParams['lease'] {
  return seed < TRAINING_SEEDS_START ? undefined : { position: positionOfSeed(settings.seed, seed), task }
}

function buildGroupIdentity({ run, group }: GroupRef, { id, recipe: { task, difficulty } }: GroupItem) {
  return { group_id: group, run, item_id: id, task, difficulty }
}

async function settle<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [outcome] = await Promise.allSettled([promise])
  return outcome
}

function bufferFullError(run: string): ServiceError {
  return new ServiceError(
    'buffer_full',
    `The buffer of the run ${run} is full. Take and acknowledge batches, raise buffer_max_groups, or post with "buffer": false.`,
  )
}

/** Thrown before the body is read, when its `buffer` fields are not known yet. */
function bufferFullBeforeBodyError(run: string): ServiceError {
  return new ServiceError(
    'buffer_full',
    `The buffer of the run ${run} is full, so the body was not read. Take and acknowledge batches, or raise buffer_max_groups. To post known groups or groups with "buffer": false, leave run out of the query. If no group needs the buffer, set "buffer": false on the run.`,
  )
}

function serverBufferFullError(maxBytes: number): ServiceError {
  return new ServiceError(
    'buffer_full',
    `The queued and buffered groups of this server have reached the limit of ${maxBytes} bytes (BUFFER_MAX_BYTES). Take and acknowledge batches, or post with "buffer": false and without arrays.`,
  )
}

function groupConflictError(run: string, group: string): ServiceError {
  return new ServiceError(
    'group_conflict',
    `The group ${group} of the run ${run} was accepted with other content. Use another group_id.`,
  )
}
