/** Collections as their users see them: begun, looked at, ended, resumed. */
import { Fault } from '../faults.ts'
import type { Reach } from '../models/reach.ts'
import type { Producer } from '../queue/producer.ts'
import type { RunBook } from '../runs/run-book.ts'
import type { Samplings, StoredSampling } from '../store/samplings.ts'
import type { CollectionInput, CollectionView } from '../words/collection.ts'
import { calledModel } from './eval-book.ts'
import { addLanes } from './lanes.ts'
import type { ResultMaker } from './result-maker.ts'
import type { CollectionSpec } from './spec.ts'
import { progressOf } from './view.ts'

const SAMPLES_MOST = 1_000_000
/** What a rollout is usually made at. */
const TEMPERATURE = 1

export interface OpenCollection extends StoredSampling {
  spec: CollectionSpec
}

interface Parts {
  samplings: Samplings
  runs: RunBook
  producer: Producer
  results: ResultMaker
  reach: Reach
}

export class CollectionBook {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Begins a collection under an id of the caller's; the same id again is the same collection. */
  async begin(id: string, runName: string, input: CollectionInput): Promise<OpenCollection> {
    const { samplings, runs, producer, reach } = this.#parts
    const { settings } = await runs.ensure(runName)
    const { group_size } = settings
    const total = input.groups * group_size
    if (total > SAMPLES_MOST)
      throw new Fault('invalid_request', `A collection may have ${SAMPLES_MOST} samples, this one would have ${total}`)
    const temperature = input.temperature === undefined ? TEMPERATURE : input.temperature
    const spec: CollectionSpec = {
      kind: 'collection',
      model: await calledModel(input.model, { ...input, temperature }, reach),
      run: runName,
      groups: input.groups,
      group_size,
      buffer: input.buffer ?? settings.buffer,
    }
    const secret = input.model.api_key
    await samplings.create('collection', { id, spec, total, items: [], secret })
    await addLanes(producer, id, spec.model.concurrency, total)
    return this.find(runName, id)
  }

  /** Throws `unknown_eval`. */
  async find(run: string, id: string): Promise<OpenCollection> {
    const found = await this.#parts.samplings.find(id)
    const spec = found?.spec as CollectionSpec | undefined // written by begin
    if (!found || spec?.kind !== 'collection' || spec.run !== run)
      throw new Fault('unknown_eval', `Run ${run} has no collection ${JSON.stringify(id)}, or it is no longer kept`)
    return { ...found, spec }
  }

  /** Newest first. Throws `unknown_run`. */
  async list(run: string): Promise<CollectionView[]> {
    await this.#parts.runs.find(run)
    const views: CollectionView[] = []
    for (const id of await this.#parts.samplings.ids('collection')) {
      const found = await this.#parts.samplings.find(id)
      const spec = found?.spec as CollectionSpec | undefined // as above
      if (found && spec?.run === run) views.push(await this.view({ ...found, spec }))
    }
    return views
  }

  /** Cancels what is not over. Groups that were posted stay posted. */
  async cancel(run: string, id: string): Promise<OpenCollection> {
    const { status } = await this.find(run, id)
    if (status === 'queued' || status === 'running') await this.#parts.results.end(id, 'cancelled')
    return this.find(run, id)
  }

  /** Goes on with a collection that was cancelled or failed: completions that came are not asked for again. */
  async resume(run: string, id: string, apiKey: string | undefined): Promise<OpenCollection> {
    const { samplings, producer } = this.#parts
    const { spec, status, total } = await this.find(run, id)
    if (status === 'cancelled' || status === 'failed') {
      if (!(await samplings.reopen(id, [], apiKey))) throw new Fault('unknown_eval', `${id} is no longer kept`)
      await addLanes(producer, id, spec.model.concurrency, total)
    }
    return this.find(run, id)
  }

  async view({ id, spec, ...found }: OpenCollection): Promise<CollectionView> {
    const { run, model, group_size } = spec
    const active = found.status === 'queued' || found.status === 'running'
    const paused = active && (await this.#parts.samplings.field(id, 'paused')) === 'trainer'
    return {
      id,
      run,
      status: found.status,
      waiting_for: paused ? 'trainer' : null,
      model: { name: model.name, base_url: model.base_url },
      group_size,
      created_at: new Date(found.created).toISOString(),
      started_at: found.started === null ? null : new Date(found.started).toISOString(),
      ended_at: found.ended === null ? null : new Date(found.ended).toISOString(),
      progress: progressOf(found),
      detail: found.detail,
      result: found.result as CollectionView['result'], // as ResultMaker writes it
    }
  }
}
