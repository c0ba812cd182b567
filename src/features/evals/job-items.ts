/**
 * Which items a generation job has. An eval has a list of items, with the samples of one item in a row. A frontier eval chooses
 * its items as it progresses (FrontierItems of kinds/frontier.ts).
 */
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { Requeue } from '../../platform/queue/job-definition.ts'
import type { Ladders } from '../tasks/ladders.ts'
import type { TaskCards } from '../tasks/task-cards.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'
import type { EgressPolicy } from './models/egress-policy.ts'
import type { EvalSpec, JobOfKind } from './records.ts'
import type { StoredSampleVerdict } from './samples/output.ts'
import type { SampleRepository } from './samples/repository.ts'
import { parseSuiteItem, type SuiteItem, type Suites } from './suites.ts'

export interface SampledItem {
  id: string
  task: string
  difficulty: number | null
  /** Mean score of guessing, or undefined if it was not measured. */
  guessFloor: number | undefined
  /** Verdicts, one per sample, with null for a missing one. */
  verdicts: (StoredSampleVerdict | null)[]
}

export interface KnownItems {
  items: SuiteItem[]
  /** Returns the position of the sample's item in the list, or −1 if it is unknown. */
  indexOf: (sample: number) => number
}

export interface JobItems {
  /** Lists the known items. There are none once the samples have expired. */
  list(): Promise<KnownItems>
  /** Returns the items of samples, undefined where the item is unknown. */
  at(samples: readonly number[]): Promise<(SuiteItem | undefined)[]>
  /** Returns the item of a sample to generate, when to try again, or undefined if there is none. */
  choose(sample: number): Promise<SuiteItem | Requeue | undefined>
}

export type OpenJobItems = (job: JobOfKind<'eval'>) => JobItems

/** What evals and collections work with. */
export interface EvalParts {
  openItems: OpenJobItems
  samples: SampleRepository
  suites: Suites
  tasks: TaskCatalog
  ladders: Ladders
  cards: TaskCards
  egressPolicy: EgressPolicy
  engineVersion: string
}

/** The items of a job that has them from the start. Reads the whole list once, except for a single sample. */
export class ListedItems implements JobItems {
  readonly #job: JobOfKind<'eval'>
  readonly #samples: Pick<SampleRepository, 'listItems' | 'getItem'>
  #lines: Promise<string[]> | undefined

  constructor(job: JobOfKind<'eval'>, samples: Pick<SampleRepository, 'listItems' | 'getItem'>) {
    this.#job = job
    this.#samples = samples
  }

  async list(): Promise<KnownItems> {
    return { items: (await this.#readLines()).map(parseSuiteItem), indexOf: (sample) => this.#indexOf(sample) }
  }

  async at(samples: readonly number[]): Promise<(SuiteItem | undefined)[]> {
    const [first] = samples
    if (first !== undefined && samples.length === 1 && !this.#lines) return [await this.choose(first)]
    const lines = await this.#readLines()
    return samples.map((sample) => parseKnown(lines[this.#indexOf(sample)]))
  }

  async choose(sample: number): Promise<SuiteItem | undefined> {
    return parseKnown(await this.#samples.getItem(this.#job.id, this.#indexOf(sample)))
  }

  #readLines(): Promise<string[]> {
    this.#lines ??= this.#samples.listItems(this.#job.id)
    return this.#lines
  }

  /** Samples are numbered item by item: with 4 samples per item, sample 7 is the last one of item 1. */
  #indexOf(sample: number): number {
    return Math.floor(sample / this.#job.spec.samples_per_item)
  }
}

function parseKnown(line: string | undefined): SuiteItem | undefined {
  return line === undefined ? undefined : parseSuiteItem(line)
}

/**
 * Returns the guessing floor of an item under the job's scoring, or undefined if no card covers its config because the
 * config is custom or belongs to an earlier ladder.
 */
export function findGuessFloor(
  cards: TaskCards,
  itemId: string,
  { grading_rules: { scoring } }: Pick<EvalSpec, 'grading_rules'>,
): number | undefined {
  return cards.findItemFloor(decodeItemId(itemId), scoring)
}
