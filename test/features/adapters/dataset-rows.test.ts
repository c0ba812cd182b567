import { DatasetFormat } from '@reasoning-gym-server/contract/dataset'
import { expect, it } from 'vitest'
import { type DatasetRow, formatRow } from '../../../src/features/adapters/dataset/datasets.ts'

const messages: DatasetRow['messages'] = [
  { role: 'system', content: 'Say “it”.' },
  { role: 'user', content: 'Which?\n{"difficulty":1}' },
]
const ROW: DatasetRow = {
  id: 'gcd.7.0.x',
  task: 'gcd',
  category: 'arithmetic',
  difficulty: 0.5,
  messages,
  index: 3,
  split: 'train',
}
const item = { item_id: 'gcd.7.0.x' }
const about = { task: 'gcd', category: 'arithmetic', difficulty: 0.5 }
const source = 'reasoning_gym/gcd'

it.each<[DatasetFormat, object]>([
  ['hf', { prompt: messages, ...item, ...about }],
  ['trl', { prompt: messages, ...item, ...about }],
  ['openrlhf', { prompt: messages, ...item, datasource: source }],
  ['slime', { prompt: messages, ...item, metadata: about }],
  [
    'verl',
    {
      data_source: source,
      prompt: messages,
      ability: 'arithmetic',
      reward_model: { style: 'rule', ground_truth: '' },
      extra_info: { ...item, index: 3, split: 'train', ...about },
    },
  ],
  [
    'skyrl',
    {
      data_source: source,
      prompt: messages,
      env_class: 'reasoning_gym',
      reward_spec: { method: 'rule', ground_truth: '' },
      extra_info: { ...item, ...about },
    },
  ],
  [
    'nemo-gym',
    {
      responses_create_params: { input: messages },
      ...item,
      task_name: 'gcd',
      agent_ref: { type: 'responses_api_agents', name: 'reasoning_gym_server_simple_agent' },
      resources_server_ref: { type: 'resources_servers', name: 'reasoning_gym_server' },
    },
  ],
  ['swift', { messages, ...item }],
])('a row of %s has the columns that the trainer reads, in one line', (format, expected) => {
  const text = formatRow(ROW, format)
  expect(text.endsWith('\n') && !text.slice(0, -1).includes('\n')).toBe(true)
  expect(JSON.parse(text)).toEqual(expected)
})

// Arrow takes a column of 0 for integers, and stumbles over the 0.3 that comes a thousand rows later.
it.each([
  [0, '0.0'],
  [1, '1.0'],
  [0.3, '0.3'],
  [1e-7, '1e-7'],
  [null, '-1.0'],
])('the difficulty %d is written as a fraction: %s', (difficulty, text) => {
  for (const format of DatasetFormat.options.filter((name) => formatRow(ROW, name).includes('"difficulty":0.5')))
    expect(formatRow({ ...ROW, difficulty }, format)).toContain(`"difficulty":${text}`)
})

it('rows of a format have the same columns and types, whatever the item', () => {
  const other: DatasetRow = {
    ...ROW,
    task: 'maze',
    difficulty: null,
    split: 'test',
    index: 0,
    messages: messages.slice(1),
  }
  for (const format of DatasetFormat.options)
    expect(shapeOf(JSON.parse(formatRow(other, format)))).toEqual(shapeOf(JSON.parse(formatRow(ROW, format))))
})

/** Names and types, all the way down. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.entries(value).map(([name, part]) => [name, shapeOf(part)])
}
