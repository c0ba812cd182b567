import { afterAll, beforeAll, expect, it } from 'vitest'
import { startCpuClock } from '../cpu-clock.ts'
import { openWorld, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const WHOLE = 'expected a whole number, received'
const group = { item_id: 'x', rollouts: [{ completion: 'x' }] }
const recipe = { task: 'leg_counting' }
const settings = (tasks: unknown) => ['PUT', '/runs/fields', { tasks }] as const
const brought = { model: null, suite: 'smoke' }

it.each([
  ['POST', '/items', { ...recipe, seed: '1' }, { seed: `${WHOLE} string` }],
  ['POST', '/items', { ...recipe, seed: 1.5 }, { seed: `${WHOLE} 1.5` }],
  ['POST', '/items', '{"task":"leg_counting","seed":1e400}', { seed: `${WHOLE} Infinity` }],
  ['POST', '/items', { ...recipe, config: null }, { config: 'expected an object, received null' }],
  ['POST', '/items', { ...recipe, seed: 1, sed: 2 }, { sed: 'unknown field' }],
  [
    'POST',
    '/items',
    { task: 'Leg-Counting' },
    { task: 'must be a task name: lowercase letters, digits and underscores, such as leg_counting' },
  ],
  ['POST', '/items', { task: '' }, { task: 'must be a task name: lowercase letters, digits and underscores' }],
  ['POST', '/items', { task: null, seed: 1 }, { task: 'expected a string, received null' }],
  ['POST', '/items', { seed: 1 }, { task: 'missing: expected a string' }],
  ['POST', '/items', { run: 'fields', step: '0' }, { step: `${WHOLE} string` }],
  ['POST', '/items', { run: 'fields', step: -1 }, { step: 'must be at least 0, received -1' }],
  ['POST', '/items', { run: 'fields', count: '2' }, { count: `${WHOLE} string` }],
  ['POST', '/items', { run: 'fields', cuont: 2 }, { cuont: 'unknown field' }],
  ['POST', '/items', { run: 'fields', ...recipe, seed: 1 }, { run: 'cannot be combined with task, seed' }],
  ['POST', '/items', { run: 'fields', step: 1, seed: 3 }, { seed: 'cannot be combined with run, step' }],
  ['POST', '/items', { ...recipe, seeds: [1, 2], seed: 2, count: 2 }, { seeds: 'cannot be combined with seed, count' }],
  ['POST', '/items', { ...recipe, seeds: [1, 2], count: 2 }, { seeds: 'cannot be combined with count' }],
  ['POST', '/items', { ...recipe, seeds: [1, '2'] }, { 'seeds.1': `${WHOLE} string` }],
  ['POST', '/items', { ...recipe, seeds: [] }, { seeds: 'must have at least 1 item' }],
  ['POST', '/items', '[]', { body: 'expected an object, received array' }],
  [
    ...settings(['leg_counting', { task: 'gcd', weight: '2' }]),
    { 'tasks.1.weight': 'expected a number, received string' },
  ],
  [...settings([{ weight: 2 }]), { 'tasks.0.task': 'missing: expected a string' }],
  [...settings([{ ...recipe, difficulty: [0.2, 2] }]), { 'tasks.0.difficulty.1': 'must be at most 1, received 2' }],
  [...settings(Array(513).fill('gcd')), { tasks: 'must have at most 512 items' }],
  [...settings('gcd'), { tasks: 'expected "all" or a list, received string' }],
  [
    'PUT',
    '/runs/fields',
    { dump_rollouts: 'some' },
    { dump_rollouts: 'expected true or false or "all", received string' },
  ],
  ['PUT', '/runs/fields', { length_penalty: { kind: 'other' } }, { 'length_penalty.kind': 'expected "dapo"' }],
  [
    'PUT',
    '/runs/fields',
    { length_penalty: { kind: 'dapo', factor: 1e200 } }, // no group could be scored
    { 'length_penalty.factor': 'must be at most 1000000, received 1e+200' },
  ],
  [
    'POST',
    '/score',
    { rollouts: [{ recipe: { ...recipe, seed: '1' }, answer: '' }] },
    { 'rollouts.0.recipe.seed': `${WHOLE} string` },
  ],
  [
    'POST',
    '/score',
    { rollouts: [{ recipe, messages: [{ role: 'user', content: 5 }] }] },
    { 'rollouts.0.messages.0.content': 'expected a string, a list, or null, received 5' },
  ],
  [
    'POST',
    '/score',
    { rollouts: [{ recipe, messages: [{ role: 'user', content: [{ text: '' }] }] }] },
    { 'rollouts.0.messages.0.content.0.type': 'missing: expected a string' },
  ],
  [
    'POST',
    '/rollouts',
    { ...group, rollouts: [{ completion: 1 }] },
    { 'rollouts.0.completion': 'expected a string, received 1' },
  ],
  ['POST', '/rollouts', { run: 'fields', rollouts: group.rollouts }, { item_id: 'missing: expected a string' }],
  [
    'POST',
    '/rollouts',
    { groups: [group, { ...group, buffer: 1, rolouts: [] }] },
    { 'groups.1.buffer': 'expected true or false, received 1', 'groups.1.rolouts': 'unknown field' },
  ],
  ['POST', '/rollouts', { groups: [group], buffer: false }, { buffer: 'cannot be combined with groups' }],
  ['POST', '/eval', { ...brought, suite: { tasks: ['gcd'], n: '2' } }, { 'suite.n': `${WHOLE} string` }],
  ['POST', '/eval', { ...brought, labels: ['a', 1] }, { 'labels.1': 'expected a string, received 1' }],
  ['POST', '/eval', { ...brought, labels: { a: 1 } }, { 'labels.a': 'expected a string, received 1' }],
] as const)(
  'a refusal names the field at fault, and what was expected of it: %s %s, case %#',
  async (method, url, body, wrong) => {
    const answer = await world.call(method, url, body)
    const errors = Object.entries(wrong).map(([path, message]) => ({ path, message }))
    expect(answer.body).toMatchObject({ code: 'invalid_request', status: 400, errors })
    expect(answer.body.errors).toHaveLength(errors.length)
    expect(answer.body.detail).toBe(`${errors[0]?.path}: ${errors[0]?.message}.`)
  },
)

it('the first hundred faults of a body that has very many are listed, and soon', async () => {
  const fields = Object.fromEntries(Array.from({ length: 90_000 }, (_, k) => [`k${k}`, 1]))
  const cpuMs = startCpuClock()
  for (const [method, url, body] of [
    ['PUT', '/runs/fields', { tasks: [fields] }],
    ['POST', '/score', { rollouts: Array(4000).fill({}) }],
  ] as const) {
    const answer = await world.call(method, url, body)
    expect([answer.status, answer.body.errors.length]).toEqual([400, 100])
  }
  expect(cpuMs()).toBeLessThan(10_000) // it took minutes
})
