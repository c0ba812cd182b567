/** What runs and calls make of corrections: notes that settle a reading, and items to which no answer is right. */
import type { Item } from '@reasoning-gym-server/contract/item'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, until, type World } from '../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

async function takeItems(run: string, settings: object, count: number): Promise<Item[]> {
  await world.call('PUT', `/runs/${run}`, settings)
  const { body } = await until(
    () => world.call('POST', '/items', { run, step: 0, count }, { prefer: 'wait=20' }),
    ({ status }) => status === 200,
  )
  return body.items
}

const getPrompt = ({ messages }: Item) => messages.at(-1)?.content

it('with clarify the prompt ends with the note; question and ID stay as they are', async () => {
  const settings = { tasks: [{ task: 'manipulate_matrix', config: {} }], seed: 5 }
  const plain = await takeItems('plain', settings, 24)
  const clarified = await takeItems('clarified', { ...settings, clarify: true }, 24)
  expect(clarified.map(({ id, question }) => [id, question])).toEqual(plain.map(({ id, question }) => [id, question]))
  expect(clarified.map(({ clarification }) => clarification)).toEqual(plain.map(({ clarification }) => clarification))
  expect(new Set(plain.map(({ clarification }) => clarification === null))).toEqual(new Set([true, false]))
  for (const item of plain) expect(getPrompt(item)).toBe(item.question)
  for (const item of clarified) {
    const { question, clarification } = item
    expect(getPrompt(item)).toBe(clarification === null ? question : `${question}\n\n${clarification}`)
    const { body } = await world.call('POST', '/items/find', { text: `Be brief.\n\n${getPrompt(item)}` })
    expect(body.question).toBe(question) // seeds of one matrix make one question
  }
  const { question } = clarified.find(({ clarification }) => clarification !== null) as Item
  expect((await world.call('POST', '/items/find', { text: `${question}\n\nAnd more.` })).status).toBe(404)
  expect((await takeItems('clean', { ...settings, preset: 'clean' }, 1))[0]).toMatchObject({
    task: 'manipulate_matrix',
  })
  expect((await world.call('GET', '/runs/clean')).body.settings.clarify).toBe(true)
})

it('a repeated call shows the items of the run with their notes again', async () => {
  let tries = 0
  const ask = () =>
    world.call('POST', '/items', { run: 'clarified', count: 8 }, { 'idempotency-key': `again-${tries}` })
  const { body } = await until(
    () => {
      tries++
      return ask()
    },
    (answer) => answer.body.items?.length === 8,
  )
  expect(body.items.some(({ clarification }: Item) => clarification !== null)).toBe(true)
  expect((await ask()).body).toEqual(body)
})

it('an item to which no answer is right is unscored under hardened scoring, whatever the completion is', async () => {
  const recipes = Array.from({ length: 12 }, (_, seed) => ({ task: 'tsumego', seed }))
  const rollouts = recipes.flatMap((recipe) => [
    { recipe, completion: '<answer>A1</answer>' },
    { recipe, completion: 'no tags' },
  ])
  const hardened = (await world.call('POST', '/score', { scoring: 'hardened', detail: 'verdicts', rollouts })).body
    .verdicts
  const upstream = (await world.call('POST', '/score', { scoring: 'upstream', detail: 'verdicts', rollouts })).body
    .verdicts
  const isUnscored = hardened.map(({ code }: { code?: string }) => code === 'no_right_answer')
  expect(new Set(isUnscored)).toEqual(new Set([true, false]))
  for (const [k, verdict] of hardened.entries()) {
    expect(isUnscored[k]).toBe(isUnscored[k ^ 1])
    if (isUnscored[k]) expect(verdict).toMatchObject({ status: 'unscored', reward: null, score: null })
  }
  expect(upstream.every(({ status }: { status: string }) => status === 'scored')).toBe(true)
})

it('a run with hardened scoring hands out none of them, and counts the seeds that it passes over', async () => {
  const tasks = [{ task: 'tsumego', config: {} }]
  const items = await takeItems('answerable', { tasks, scoring: 'hardened' }, 20)
  const rollouts = items.map(({ id: item_id }) => ({ item_id, completion: '<answer>A1</answer>' }))
  const { verdicts } = (await world.call('POST', '/score', { scoring: 'hardened', detail: 'verdicts', rollouts })).body
  expect(verdicts.map(({ status }: { status: string }) => status)).toEqual(items.map(() => 'scored'))
  const { progress } = (await world.call('GET', '/runs/answerable')).body
  expect(progress.passed_over_seeds.no_right_answer).toBeGreaterThan(0)
  await takeItems('upstream', { tasks }, 20)
  expect((await world.call('GET', '/runs/upstream')).body.progress.passed_over_seeds.no_right_answer).toBe(0)
})
