/**
 * Formats rows of data sets for the trainers' readers. Each row of a format has the same columns and types, because
 * Arrow takes its schema from the first rows: no null, no object whose keys vary, and a decimal point in each fraction.
 */
import type { DatasetFormat } from '@reasoning-gym-server/contract/dataset'
import type { Item } from '@reasoning-gym-server/contract/item'

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

/** A value encoded as JSON. */
type JsonText = string

export function formatRow(row: DatasetRow, format: DatasetFormat): JsonText {
  return `${writeObject(COLUMNS[format](row))}\n`
}

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
  return { task: write(task), category: write(category), difficulty: writeFraction(difficulty ?? NO_DIFFICULTY) }
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

/** Formats with a decimal point, so that no reader takes a column of 0 and 1 for integers. */
function writeFraction(value: number): JsonText {
  return Number.isInteger(value) ? `${value}.0` : String(value)
}
