/**
 * Opens data sets of items: what a query asks for, the entity tag of the answer, and its lines in the format of a
 * trainer's reader. It claims nothing from a run.
 */

import { createHash } from 'node:crypto'
import type { DatasetFormat, DatasetQuery, DatasetRowsQuery } from '@reasoning-gym-server/contract/dataset'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Item } from '@reasoning-gym-server/contract/item'
import { ENGINE_VERSION } from '../../../engine/version.ts'
import { VERSION } from '../../../platform/installation.ts'
import type { Suites } from '../../evals/suites.ts'
import type { Items } from '../../items/items.ts'
import { DEFAULT_PROMPT_SETTINGS, type PromptSettings } from '../../items/prompt.ts'
import type { Runs } from '../../runs/runs.ts'
import type { ResolvedRun } from '../../runs/types.ts'
import { formatFloat } from '../trainer-calls.ts'
import { type RowItem, type RowItems, type RowRange, TrainingPlan, type TrainingPlanDeps } from './row-items.ts'

export interface Dataset {
  /** Entity tag, which changes with the bytes and only with them, as far as a query can tell. */
  entityTag: string
  rows: number
  /** Streams the lines, made a few at a time. Throws `make_failed`, and temporary failures that last too long. */
  openLines: (signal: AbortSignal) => AsyncGenerator<string>
}

interface DatasetsDeps extends TrainingPlanDeps {
  items: Items
  rowItems: RowItems
  runs: Runs
  suites: Suites
}

interface RowsSpec {
  query: DatasetRowsQuery
  run: ResolvedRun | undefined
  split: DatasetRow['split']
  /** Everything that determines the items. */
  identity: unknown
  /** Number of rows in the whole data set. */
  count: number
  openRows: (range: RowRange) => AsyncGenerator<string>
}

export class Datasets {
  readonly #deps: DatasetsDeps

  constructor(deps: DatasetsDeps) {
    this.#deps = deps
  }

  /** Opens a data set of training items. Throws `unknown_run`, `unknown_task`, `invalid_request`. */
  async openTraining(query: DatasetQuery): Promise<Dataset> {
    const run = await this.#requireRun(query)
    const plan = new TrainingPlan(query, run?.explicitSettings ?? {}, this.#deps)
    if (plan.isEmpty) throw new ServiceError('invalid_request', 'The run excludes every task. Name some in `tasks`.')
    return this.#describe({
      query,
      run,
      split: 'train',
      identity: [plan.identity, query.count, this.#deps.suites.list().map(({ sha256 }) => sha256)],
      count: query.count,
      openRows: (range) => this.#deps.rowItems.ofPlan(plan, range),
    })
  }

  /** Opens the items of a frozen suite. Throws `unknown_suite`, `unknown_run`, `invalid_request`. */
  async openSuite(suite: string, query: DatasetRowsQuery): Promise<Dataset> {
    const { sha256 } = this.#deps.suites.require(suite)
    const ids = this.#deps.suites.listItems(suite).map(({ id }) => id)
    return this.#describe({
      query,
      run: await this.#requireRun(query),
      split: 'test',
      identity: sha256,
      count: ids.length,
      openRows: (range) => this.#deps.rowItems.ofIds(ids, range),
    })
  }

  async #requireRun({ run }: DatasetRowsQuery): Promise<ResolvedRun | undefined> {
    return run === undefined ? undefined : this.#deps.runs.require(run)
  }

  #describe({ query, run, split, identity, count, openRows }: RowsSpec): Dataset {
    const { format, from } = query
    if (from > count)
      throw new ServiceError('invalid_request', `The data set has ${count} rows. Begin at one of them.`, {
        errors: [{ path: 'from', message: `must be at most ${count}` }],
      })
    const prompt = choosePrompt(query, run)
    const { items } = this.#deps
    const entityTag = hashIdentity([identity, format, from, split, prompt])
    const formatItem = ({ row: index, ...item }: RowItem) =>
      formatRow({ ...items.formatItem(item, prompt), index, split }, format)
    return {
      entityTag,
      rows: count - from,
      openLines: (signal) => openRows({ entityTag, from, to: count, format: formatItem, signal }),
    }
  }
}

function choosePrompt({ prompt: role }: DatasetRowsQuery, run: ResolvedRun | undefined): PromptSettings {
  const { system_prompt, system_prompt_role, clarify } = run?.settings ?? DEFAULT_PROMPT_SETTINGS
  return { system_prompt, system_prompt_role: role ?? system_prompt_role, clarify }
}

/** Hashes the identity with the server version, because a later version may have other ladders and columns. */
function hashIdentity(parts: unknown[]): string {
  return createHash('sha256')
    .update(JSON.stringify([VERSION, ENGINE_VERSION, ...parts]))
    .digest('base64url')
    .slice(0, 32)
}

export interface DatasetRow extends Pick<Item, 'id' | 'task' | 'category' | 'difficulty' | 'messages'> {
  /** Index in the data set, counted from 0. */
  index: number
  split: 'train' | 'test'
}

/** Name under which a trainer looks up the environment in its registry or config. */
const SKYRL_ENVIRONMENT = 'reasoning_gym'
const NEMO_GYM_AGENT = 'reasoning_gym_server_simple_agent'
const NEMO_GYM_RESOURCES_SERVER = 'reasoning_gym_server'

/** Difficulty of the library's defaults, which are on no rung. */
const NO_DIFFICULTY = -1

type JsonText = string

export function formatRow(row: DatasetRow, format: DatasetFormat): JsonText {
  return `${writeObject(COLUMNS[format](row))}\n`
}

/**
 * Each row of a format has the same columns and types, because Arrow takes its schema from the first rows: no null, no
 * object whose keys vary, and a decimal point in each fraction.
 */
const COLUMNS: Record<DatasetFormat, (row: DatasetRow) => Record<string, JsonText>> = {
  hf: describeItem,
  trl: describeItem,
  openrlhf: (row) => ({ prompt: write(row.messages), item_id: write(row.id), datasource: write(dataSourceOf(row)) }),
  slime: (row) => ({ prompt: write(row.messages), item_id: write(row.id), metadata: writeObject(describeTask(row)) }),
  verl: (row) => ({
    data_source: write(dataSourceOf(row)),
    prompt: write(row.messages),
    ability: write(row.category),
    reward_model: write({ style: 'rule', ground_truth: '' }), // the answer stays on the server
    extra_info: writeObject({
      item_id: write(row.id),
      index: write(row.index),
      split: write(row.split),
      ...describeTask(row),
    }),
  }),
  skyrl: (row) => ({
    data_source: write(dataSourceOf(row)),
    prompt: write(row.messages),
    env_class: write(SKYRL_ENVIRONMENT),
    reward_spec: write({ method: 'rule', ground_truth: '' }),
    extra_info: writeObject({ item_id: write(row.id), ...describeTask(row) }),
  }),
  'nemo-gym': (row) => ({
    responses_create_params: write({ input: row.messages }),
    item_id: write(row.id),
    task_name: write(row.task),
    agent_ref: write({ type: 'responses_api_agents', name: NEMO_GYM_AGENT }),
    resources_server_ref: write({ type: 'resources_servers', name: NEMO_GYM_RESOURCES_SERVER }),
  }),
  swift: (row) => ({ messages: write(row.messages), item_id: write(row.id) }),
}

function describeItem(row: DatasetRow): Record<string, JsonText> {
  return { prompt: write(row.messages), item_id: write(row.id), ...describeTask(row) }
}

function describeTask({ task, category, difficulty }: DatasetRow): Record<string, JsonText> {
  return { task: write(task), category: write(category), difficulty: formatFloat(difficulty ?? NO_DIFFICULTY) }
}

/** Returns the name under which trainers report scores. */
function dataSourceOf({ task }: DatasetRow): string {
  return `reasoning_gym/${task}`
}

function write(value: unknown): JsonText {
  return JSON.stringify(value)
}

function writeObject(columns: Record<string, JsonText>): JsonText {
  return `{${Object.entries(columns)
    .map(([name, text]) => `${write(name)}:${text}`)
    .join(',')}}`
}
