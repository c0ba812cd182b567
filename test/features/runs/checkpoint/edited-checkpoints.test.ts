import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Checkpoint } from '../../../../src/features/runs/checkpoint/document.ts'
import { openWorld, takeItems, until, type World } from '../../../world.ts'

let world: World
let checkpoint: Checkpoint
beforeAll(async () => {
  world = await openWorld({ worker: true })
  await world.call('PUT', '/runs/source', SETTINGS)
  for (let k = 0; k < 3; k++) expect(await train('source')).toBe(200)
  await until(
    () => world.call('POST', '/items', { run: 'source', step: 7, count: 2 }, { prefer: 'wait=20' }),
    ({ status }) => status === 200,
  )
  await takeItems(world, 'source', 2)
  checkpoint = (await world.call('GET', '/runs/source/checkpoint')).body
})
afterAll(() => world.close())

const SETTINGS = {
  tasks: ['chain_sum', 'gcd'],
  complexity_mode: 'curriculum',
  batch_size: 2,
  group_size: 2,
  drop_equal_scores: false,
  min_trained_tokens: 0,
}

/** An item, a group and a batch of a run; the status of the batch. */
async function train(run: string): Promise<number> {
  const { body } = await until(
    () => world.call('POST', '/items', { run, count: 1 }),
    ({ status, body }) => (status >= 400 && status !== 503) || body.items?.length > 0,
  )
  if (!body.items) return body.status
  const rollouts = [{ completion: 'x' }, { completion: '<answer>1</answer>' }]
  const group = { run, item_id: body.items[0].id, group_id: `g${Math.random()}`, rollouts }
  const posted = await world.call('POST', '/rollouts', group, { prefer: 'wait=20' })
  expect(posted.body).toMatchObject({ status: 'scored', destination: 'buffered' })
  const last = (await world.call('GET', `/runs/${run}`)).body.progress.step ?? 0
  return (await world.call('POST', `/runs/${run}/batches`, { step: Math.min(last, 2 ** 40) + 1 })).status
}

type Path = (string | number)[]

function listLeaves(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([key, inner]) =>
    listLeaves(inner, [...path, Array.isArray(value) ? +key : key]),
  )
}

/** The document with another value at a path. */
function edit(path: Path, change: (value: unknown) => unknown): object {
  const copy = structuredClone(checkpoint)
  let parent = copy as unknown as Record<string | number, unknown>
  for (const key of path.slice(0, -1)) parent = parent[key] as typeof parent
  const last = path.at(-1) ?? ''
  parent[last] = change(parent[last])
  return copy
}

const EDITS: ((value: unknown) => unknown)[] = [
  (value) => (typeof value === 'number' ? -1 - value : 'nope'),
  (value) => (typeof value === 'number' ? value + 2 ** 45 : ''),
  (value) => (typeof value === 'number' ? 1e300 : `${String(value)}x`),
  (value) => (typeof value === 'number' ? 0 : null),
  (value) => (typeof value === 'number' ? 0.5 : [value]),
]

describe('a checkpoint that was edited', () => {
  it('is refused, or restores a run that works: 60 edits', { timeout: 180_000 }, async () => {
    const own = new Set(['settings', 'version', 'engine', 'run', 'created_at']) // settings are tested with PUT /runs/{run}
    const leaves = listLeaves(checkpoint).filter(([root, field]) => !own.has(`${root}`) && field !== 'prefetch_target')
    const outcomes = { refused: 0, works: 0 }
    for (let k = 0; k < 60; k++) {
      const path = leaves[Math.floor((k * leaves.length) / 60)] ?? []
      const edited = edit(path, EDITS[k % EDITS.length] ?? String)
      const { status, body } = await world.call('PUT', '/runs/edited/checkpoint', edited)
      const about = `${path.join('.')}, edit ${k % EDITS.length}: ${JSON.stringify(body).slice(0, 500)}`
      if (status !== 200) {
        expect([status, body.code], about).toEqual([400, 'invalid_request'])
        expect(body.errors.length, about).toBeGreaterThan(0)
        outcomes.refused += 1
        continue
      }
      expect(await train('edited'), about).toBe(200)
      for (const url of ['', '/history', '/checkpoint', '/groups']) {
        expect((await world.call('GET', `/runs/edited${url}`)).status, about + url).toBe(200)
      }
      expect((await world.app.inject('/runs/edited/metrics')).statusCode, about).toBe(200)
      outcomes.works += 1
    }
    expect(outcomes.refused).toBeGreaterThan(10)
    expect(outcomes.works).toBeGreaterThan(10)
  })

  it.each<[string, Path, unknown]>([
    ['a task that does not exist, of a lease', ['sequence', 'leases', 0, 'task'], 'nope'],
    ['of issued items', ['sequence', 'issued', 'tasks'], ['chain_sum', 'nope']],
    ['a number that stands for no task', ['sequence', 'issued', 'chunks', 0, 'tasks', 0], 2],
    ['a number that stands for no difficulty', ['sequence', 'issued', 'chunks', 0, 'difficulties', 0], 99],
    ['columns of different lengths', ['sequence', 'issued', 'chunks', 0, 'difficulties'], []],
    ['an issued position that would be handed out again', ['sequence', 'open'], [0]],
    ['a step beyond the sequence', ['sequence', 'steps', 0, 'positions'], [[0, 1024]]],
    ['drawn', ['sequence', 'drawn'], [{ position: 0, task: 'nope' }]],
    ['of the history', ['curriculum_history'], [{ ...point(), task: 'nope' }]],
    ['with a level', ['curriculum', 'nope'], { level: 0.3, scores: [] }],
    ['with an accuracy', ['recent_accuracies', 'nope'], [0.5]],
    ['with sums', ['tasks', 'nope'], { groups: 1 }],
    ['with sums in a step', ['step_sums', 0, 'sums', 'task_scored'], { nope: 1 }],
    ['a level above 1', ['curriculum', 'gcd'], { level: 1.5, scores: [] }],
    ['a negative count', ['counters', 'groups'], -1],
    ['a time that no date can be', ['counters', 'last_accepted_at'], 8.7e15],
    ['a score that would become infinite', ['curriculum', 'gcd'], { level: 0.5, scores: [1e308, 1e308] }],
    ['a position that would be opened again', ['sequence', 'open'], [2 ** 40]],
  ])('%s is refused at its path', async (_name, path, value) => {
    const { status, body } = await world.call(
      'PUT',
      '/runs/refused/checkpoint',
      edit(path, () => value),
    )
    expect([status, body.code]).toEqual([400, 'invalid_request'])
    expect(body.errors[0].path).toContain(path.slice(0, 2).join('.'))
    expect((await world.call('GET', '/runs/refused')).status).toBe(404)
  })
})

it('an error lists at most twenty places, of all kinds', async () => {
  const edited = edit(['sequence', 'open'], () => Array(50).fill(2 ** 40)) as Checkpoint
  for (let k = 0; k < 30; k++) edited.curriculum[`nope${k}`] = { level: 0.3, scores: [] }
  const { status, body } = await world.call('PUT', '/runs/refused/checkpoint', edited)
  expect([status, body.errors.length]).toEqual([400, 20])
})

function point() {
  return { time: '2026-01-01T00:00:00.000Z', step: 0, score: 1, difficulty: 0.3, accuracy: 1 }
}
