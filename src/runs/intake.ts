/** Groups come in: checked, accepted by one script, put on the queue; and can be waited for. */
import { Fault } from '../faults.ts'
import type { Items } from '../items/items.ts'
import type { Producer } from '../queue/producer.ts'
import type { Completions } from '../store/completions.ts'
import type { Acceptance, GroupPlace, Groups } from '../store/groups.ts'
import { pack } from '../store/payload.ts'
import { decodeItemId } from '../words/item-id.ts'
import type { Group, GroupInput } from '../words/rollout.ts'
import type { OpenRun, RunBook } from './run-book.ts'

interface Parts {
  runs: RunBook
  items: Items
  groups: Groups
  producer: Producer
  completions: Completions
  onHintLost: (error: unknown) => void
}

export class Intake {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Accepts groups in order; all are checked before the first is accepted. Answers them as they stand after the wait. */
  async post(runName: string, inputs: GroupInput[], waitMs: number): Promise<Group[]> {
    for (const { item_id } of inputs) await this.#parts.items.open(item_id)
    const run = await this.#parts.runs.ensure(runName)
    const places: GroupPlace[] = []
    for (const input of inputs) places.push(await this.#accept(run, input))
    const hints = places.map((place) => ({ id: `${place.run}/${place.epoch}/${place.group}`, data: place }))
    // Accepted is accepted: if the queue cannot be told now, the sweeper tells it.
    await this.#parts.producer.add('score-group', hints).catch(this.#parts.onHintLost)
    const until = performance.now() + waitMs
    return Promise.all(places.map((place) => this.look(place, until - performance.now())))
  }

  /** A group as it stands, or as it is once done, if that is within `waitMs`. Throws `unknown_group`. */
  async look(place: GroupPlace, waitMs = 0): Promise<Group> {
    const expected = waitMs > 0 ? this.#parts.completions.expect(place, waitMs) : undefined
    try {
      const group = await this.#find(place)
      if (group.status !== 'queued' || !expected) return group
      await expected.promise
      return await this.#find(place)
    } finally {
      expected?.cancel()
    }
  }

  async #accept({ name, epoch, settings }: OpenRun, input: GroupInput): Promise<GroupPlace> {
    const wants = input.buffer ?? settings.buffer
    const packed = pack(input, wants)
    const place = { run: name, epoch, group: input.group_id ?? packed.hash.slice(0, 32) }
    const bounds = { rollouts: input.rollouts.length, wants, most: settings.buffer_max_groups }
    refuse(await this.#parts.groups.accept(place, packed, bounds), place)
    return place
  }

  async #find(place: GroupPlace): Promise<Group> {
    const stored = await this.#parts.groups.find(place)
    if (!stored)
      throw new Fault('unknown_group', `Run ${place.run} has no group ${place.group}, or it is no longer kept`)
    const { item_id } = stored.about ?? {}
    if (item_id === undefined) throw new Fault('unknown_group', `Group ${place.group} was seen, but is no longer kept`)
    const recipe = decodeItemId(item_id)
    const { group, run } = place
    const identity = { group_id: group, run, item_id, task: recipe.task, difficulty: recipe.difficulty }
    return { ...identity, ...(stored.result ?? { status: stored.status, destination: null }) }
  }
}

function refuse(acceptance: Acceptance, { run, group }: GroupPlace): void {
  switch (acceptance) {
    case 'new':
    case 'known':
      return
    case 'conflict':
      throw new Fault(
        'group_conflict',
        `Group ${group} of run ${run} was accepted with other content; send another group_id`,
      )
    case 'full':
      throw new Fault(
        'buffer_full',
        `The buffer of run ${run} is full: take batches, raise buffer_max_groups, or post with "buffer": false`,
        { retryAfter: 5 },
      )
    case 'epoch':
      throw new Fault('redis_unavailable', `Run ${run} was restored a moment ago; send the group again`)
  }
}
