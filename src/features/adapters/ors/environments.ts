/** The environments of ORS, one for each run and one without a run, and the tasks of their splits. */

import { type Caller, canAccessRun } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { decodeItemId, encodeItemId, ItemId } from '@reasoning-gym-server/contract/item-id'
import { isEvalSeed } from '@reasoning-gym-server/contract/recipe'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import type { FastifyRequest } from 'fastify'
import type { Suites } from '../../evals/suites.ts'
import type { Items } from '../../items/items.ts'
import type { ItemRequests } from '../../runs/item-requests.ts'
import type { Runs } from '../../runs/runs.ts'
import type { TaskCatalog } from '../../tasks/task-catalog.ts'
import type { CreateBody } from './wire.ts'

/** Name of the environment without a run, and the names that clients send by default. */
const STATELESS = 'reasoning-gym'
const STATELESS_NAMES: readonly string[] = [STATELESS, 'reasoning_gym', 'env']

/**
 * Number of train tasks. Without a run, each task of the library gets about a hundred; with a run, they are positions
 * of its sequence.
 */
const STATELESS_TASKS = 10_000
const RUN_TASKS = 100_000
const TEST_SUITE = 'original'
const STATELESS_SEED = 1
const POSITION_WAIT_MS = 15_000
const SPLITS = ['train', 'test'] as const
type Split = (typeof SPLITS)[number]

export interface OrsEnvironment {
  name: string
  run: string | undefined
  /** Incarnation of the run. */
  incarnation?: string
}

/**
 * Task spec that a client sends back: the item, or a position of the run's sequence. The item at a position is made
 * when an episode begins.
 */
type TaskSpec = { item_id: string } | { position: number }

interface EnvironmentsDeps {
  items: Items
  runs: Runs
  itemRequests: ItemRequests
  suites: Suites
  catalog: TaskCatalog
}

export class OrsEnvironments {
  readonly #deps: EnvironmentsDeps

  constructor(deps: EnvironmentsDeps) {
    this.#deps = deps
  }

  /** `named` comes from the path or the body. `deployment` is the header that clients send; it may include an owner. */
  async require(named: string | undefined, deployment: string | undefined, caller: Caller): Promise<OrsEnvironment> {
    const name = (named ?? deployment?.split('/').at(-1) ?? STATELESS).toLowerCase()
    if (STATELESS_NAMES.includes(name)) return { name: STATELESS, run: undefined }
    const isVisible = RunName.safeParse(name).success && canAccessRun(caller, name)
    const run = isVisible ? await this.#deps.runs.get(name) : undefined
    if (!run) {
      throw new ServiceError(
        'not_found',
        `There is no environment ${JSON.stringify(name)}. Name a run, which PUT /runs/{run} creates, or ${STATELESS}.`,
      )
    }
    return { name, run: name, incarnation: run.incarnation }
  }

  async list(caller: Caller): Promise<string[]> {
    const runs = await this.#deps.runs.list((name) => canAccessRun(caller, name))
    return [STATELESS, ...runs.map(({ name }) => name)]
  }

  countTasks({ run }: OrsEnvironment, split: string): number {
    if (requireSplit(split) === 'test') return this.#deps.suites.listItems(TEST_SUITE).length
    return run === undefined ? STATELESS_TASKS : RUN_TASKS
  }

  /** Lists the tasks from `start` to `stop`, with the semantics of Python slices. */
  async listTasks(environment: OrsEnvironment, split: string, start = 0, stop?: number): Promise<TaskSpec[]> {
    const total = this.countTasks(environment, split)
    const [from, to] = [start, stop ?? total].map((place) =>
      Math.min(total, Math.max(0, place < 0 ? total + place : place)),
    )
    const places = Array.from({ length: Math.max(0, (to ?? 0) - (from ?? 0)) }, (_, k) => (from ?? 0) + k)
    return Promise.all(places.map((place) => this.#getTask(environment, requireSplit(split), place)))
  }

  async requireTask(environment: OrsEnvironment, split: string, index: number): Promise<TaskSpec> {
    if (index < 0 || index >= this.countTasks(environment, split))
      throw new ServiceError('invalid_request', `The split ${split} has no task ${index}. Use a smaller index.`)
    return this.#getTask(environment, requireSplit(split), index)
  }

  /** Returns the ID of the item that the episode uses. */
  async requireItemId(
    environment: OrsEnvironment,
    asked: CreateBody,
    requester: Pick<FastifyRequest, 'caller' | 'log'>,
  ): Promise<string> {
    const { task_spec: given, split, index } = asked
    const isByPlace = split !== null && split !== undefined && index !== null && index !== undefined
    if ((given !== null && given !== undefined) === isByPlace)
      throw new ServiceError(
        'invalid_request',
        'The task is missing or named twice. Send either task_spec, or split and index.',
      )
    const spec = isByPlace ? await this.requireTask(environment, split, index) : parseTaskSpec(given ?? {})
    if ('item_id' in spec) {
      await this.#deps.items.resolveItemId(spec.item_id)
      return spec.item_id
    }
    const { run, incarnation } = environment
    if (run === undefined)
      throw new ServiceError('invalid_request', 'Only tasks of a run have a position. Name a run as the environment.')
    const { items } = await this.#deps.itemRequests.serve(
      { run, position: spec.position, count: 1 },
      {
        caller: requester.caller,
        idempotencyKey: undefined,
        waitMs: POSITION_WAIT_MS,
        condition: incarnation === undefined ? 'exists' : [incarnation],
        log: requester.log,
      },
    )
    const [item] = items
    if (!item)
      throw new ServiceError('items_not_ready', `The item of position ${spec.position} is not ready yet. Retry.`)
    return item.id
  }

  async #getTask({ run }: OrsEnvironment, split: Split, place: number): Promise<TaskSpec> {
    const { suites, items, catalog } = this.#deps
    if (split === 'test') return { item_id: suites.listItems(TEST_SUITE)[place]?.id ?? '' }
    if (run !== undefined) return { position: place }
    const tasks = catalog.list()
    const task = tasks[place % tasks.length]?.name ?? ''
    const recipe = await items.resolveRecipe({
      task,
      seed: STATELESS_SEED + Math.floor(place / tasks.length),
      index: 0,
    })
    return { item_id: encodeItemId(recipe) }
  }
}

export function listSplits(): { name: string; type: Split }[] {
  return SPLITS.map((name) => ({ name, type: name }))
}

/** Items of suites measure the run and are not part of its training. */
export function isEvalItem(itemId: string): boolean {
  return isEvalSeed(decodeItemId(itemId).seed)
}

function requireSplit(name: string): Split {
  const split = SPLITS.find((one) => one === name)
  if (!split)
    throw new ServiceError('invalid_request', `There is no split ${JSON.stringify(name)}. Use ${SPLITS.join(' or ')}.`)
  return split
}

function parseTaskSpec({ item_id, position }: Record<string, unknown>): TaskSpec {
  const id = ItemId.safeParse(item_id)
  if (id.success) return { item_id: id.data }
  if (typeof position === 'number' && Number.isSafeInteger(position) && position >= 0) return { position }
  throw new ServiceError(
    'invalid_request',
    'The task_spec has no valid item_id or position. Send it as the server gave it.',
  )
}
