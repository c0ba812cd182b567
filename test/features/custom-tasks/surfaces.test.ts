/** Custom tasks on every surface: curriculum, evals, data sets, adapters, dumps and the dashboard. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openBrowser, openPage } from '../../dashboard/browser.ts'
import { openWorld, takeItems, until, type World } from '../../world.ts'

const FIXTURES = new URL('../../fixtures/custom-tasks', import.meta.url).pathname
const TASK = 'missing_number'
let world: World
let browser: Browser

beforeAll(async () => {
  ;[world, browser] = await Promise.all([openWorld({ worker: true, TASKS_PATH: FIXTURES }), openBrowser()])
})
afterAll(async () => {
  await browser?.close()
  await world.close()
})

const reveal = async (id: string): Promise<string> => (await world.call('GET', `/items/${id}?reveal=true`)).body.answer

async function postGroup(run: string, id: string, rights: number, size = 4) {
  const answer = await reveal(id)
  const rollouts = Array.from({ length: size }, (_, k) => ({
    completion: `<answer>${k < rights ? answer : 'none'}</answer>`,
  }))
  return world.call('POST', '/rollouts', { run, item_id: id, rollouts }, { prefer: 'wait=20' })
}

it('climbs its ladder with the model', async () => {
  await world.call('PUT', '/runs/climb', { tasks: [TASK], complexity_mode: 'curriculum', group_size: 4 })
  const levels: number[] = []
  for (let k = 0; k < 12; k++) {
    const [item] = await takeItems(world, 'climb', 1)
    levels.push(item?.difficulty as number)
    expect((await postGroup('climb', item?.id ?? '', 4)).body.verdicts[0].score).toBe(1)
  }
  expect(Math.max(...levels)).toBeGreaterThan(levels[0] ?? 1)
})

it('is measured by an eval, in its own category', async () => {
  const suite = { tasks: [TASK, 'chain_sum'], n: 3 }
  const { body: started } = await world.call('POST', '/eval', { model: null, suite })
  const { items } = (await world.call('GET', `/eval/${started.id}/items`)).body
  const completions = []
  for (const { sample_id, item_id } of items)
    completions.push({ sample_id, completion: `<answer>${await reveal(item_id)}</answer>` })
  await world.call('POST', `/eval/${started.id}/completions`, { completions })
  const { body } = await until(
    () => world.call('GET', `/eval/${started.id}`),
    ({ body: now }) => now.status === 'done',
    20_000,
  )
  expect(body.result.categories.custom).toMatchObject({ mean_score: 1, items: 3, guess_floor_unknown: 3 })
  expect(body.result.tasks[TASK]).toMatchObject({ mean_score: 1 })
})

it('is in the categories that a run may name, and in data sets', async () => {
  expect((await world.call('PUT', '/runs/all-custom', { tasks: ['category:custom'] })).status).toBeLessThan(300)
  const items = await takeItems(world, 'all-custom', 8)
  expect(new Set(items.map(({ task }) => task))).toEqual(new Set([TASK, 'word_count']))
  const lines = await world.app.inject({ url: `/dataset.jsonl?tasks=${TASK}&count=3` })
  expect(lines.statusCode).toBe(200)
  expect(lines.body.trim().split('\n')).toHaveLength(3)
  const row = JSON.parse(lines.body.split('\n')[0] ?? '')
  expect(JSON.stringify(row)).toContain('Which number stands for the question mark?')
})

it('is in exports, and in dumps with its code', async () => {
  await world.call('PUT', '/runs/dumped', { tasks: [TASK], dump_rollouts: true, group_size: 4 })
  const [item] = await takeItems(world, 'dumped', 1)
  await postGroup('dumped', item?.id ?? '', 2)
  const kept = await world.app.inject({ url: '/runs/dumped/export?source=kept&min_reward=0' })
  expect(JSON.parse(kept.body.split('\n')[0] ?? '')).toMatchObject({ task: TASK, run: 'dumped' })
  await world.call('DELETE', '/runs/dumped') // writes what is waiting
  const { body } = await until(
    () => world.call('GET', '/dumps?run=dumped'),
    ({ body: now }) => now.files.length > 0,
    20_000,
  )
  const dump = await world.app.inject({ url: `/dumps/${body.files[0].name}` })
  const record = JSON.parse(dump.body.split('\n')[0] ?? '')
  expect(JSON.stringify(record)).toContain(TASK)
  expect(JSON.stringify(record)).toMatch(/0\.1\.25\+[0-9a-f]{12}/)
})

it('has a page on the dashboard, with its code, its ladder and a form to try an answer', async () => {
  const url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  const watched = await openPage(browser, url)
  const { page } = watched
  await page.goto(`${url}/#/tasks/${TASK}`)
  await page.getByText('Find the number that is missing from an arithmetic sequence.').waitFor()
  await page.getByText(/your task, code [0-9a-f]{12}/).waitFor()
  await page.getByText('Rung – of 5').waitFor()
  await page.getByText('Which number stands for the question mark?').first().waitFor()
  expect(await watched.findings()).toEqual([])
  expect(watched.troubles).toEqual([])
  await watched.close()
})
