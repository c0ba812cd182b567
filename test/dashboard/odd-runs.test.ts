import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRunKeys } from '../../src/features/runs/records.ts'
import { openWorld, takeItems, type World } from '../world.ts'
import { openBrowser, openPage, type Watched } from './browser.ts'

const LONG = 'r'.repeat(63)

let world: World
let url: string
let browser: Browser
/** Visits one page after another. */
let watched: Watched
let page: Page

beforeAll(async () => {
  world = await openWorld({ worker: true })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  browser = await openBrowser()
  watched = await openPage(browser, url)
  page = watched.page
})
afterAll(async () => {
  await browser?.close()
  await world.close()
})

async function post(run: string, rollouts: object[], step = 0, policy_version?: number): Promise<void> {
  const { body } = await world.call('POST', '/items', { run, step, count: 1 }, { prefer: 'wait=60' })
  const group = { item_id: body.items[0].id, rollouts, policy_version }
  await world.call('POST', '/rollouts', { run, ...group }, { prefer: 'wait=30' })
}

it('a run with the longest name leaves its figures in sight', async () => {
  await world.call('PUT', `/runs/${LONG}`, { tasks: ['gcd'] })
  for (const hash of ['', '#/runs']) {
    await watched.visit(hash)
    await page.getByRole('link', { name: LONG }).waitFor()
    await page.locator('.table').first().waitFor({ state: 'attached' })
    expect(await page.getByRole('region', { name: 'Runs' }).locator('.table[tabindex]').count()).toBe(0)
  }
  await watched.visit('#/runs', { width: 390, height: 844 })
  const state = page.getByRole('columnheader', { name: 'state' })
  await state.waitFor()
  expect((await state.boundingBox())?.x).toBeLessThan(300)
})

it('seeds of an experiment are one line with a band, or a line for each', async () => {
  const runs = ['tuned-1', 'tuned-2', 'tuned-3', 'other']
  for (const [seed, run] of runs.entries()) {
    await world.call('PUT', `/runs/${run}`, { tasks: ['gcd'], group_size: run === 'other' ? 2 : 1, seed })
    for (const step of [0, 1]) await post(run, [{ completion: '<answer>1</answer>' }], step)
  }
  await watched.visit(`#/compare?runs=${runs.join(',')}`)
  await page.getByRole('img', { name: /^Reward: tuned, 3 seeds [0-9.]+, other [0-9.]+$/ }).waitFor()
  await watched.shoot('compare-seeds')
  await page.getByRole('button', { name: 'Each run' }).click()
  await page.getByRole('img', { name: /^Reward: tuned-1 .*, tuned-2 .*, tuned-3 .*, other [0-9.]+$/ }).waitFor()
  expect(await watched.faults()).toEqual([])
  await page.setViewportSize({ width: 360, height: 800 })
  expect(await page.getByRole('region', { name: 'Tasks' }).locator('.table[tabindex]').count()).toBe(0)
})

it('a comparison loads merged rows, and again only those of a run that goes on', async () => {
  const train = (run: string, step: number) => post(run, [{ completion: '<answer>1</answer>' }], step, step)
  for (const run of ['going', 'still']) {
    await world.call('PUT', `/runs/${run}`, { tasks: ['gcd'], group_size: 1 })
    for (const step of [0, 1]) await train(run, step)
  }
  const own = await openPage(browser, url)
  const paths: string[] = []
  own.page.on('request', (request) => paths.push(request.url().split('/runs/')[1] ?? ''))
  const countOf = (path: string) => paths.filter((one) => one === path).length
  await own.page.clock.install()
  await own.page.goto(`${url}/#/compare?runs=going,still`)
  await own.page.getByRole('img', { name: /^Reward: going/ }).waitFor()
  await train('going', 2)
  await own.page.clock.fastForward(10_000)
  const newer = () => paths.findIndex((path) => path.startsWith('going/metrics?points=400&from='))
  await expect.poll(() => newer() >= 0 && paths.lastIndexOf('still') > newer()).toBe(true)
  const newest = new Set(paths.filter((path) => path.includes('/metrics')).slice(2))
  newest.delete('going/metrics?points=400&from=2') // the page looks by itself, too, when 10 s have gone by
  expect([...newest]).toEqual(['going/metrics?points=400&from=1'])
  expect([countOf('still/history'), countOf('still/metrics?points=400')]).toEqual([1, 1])
  await own.close()
})

it('all runs are searched and counted, and those beyond the first page are loaded on demand', async () => {
  const names = Array.from({ length: 101 }, (_, k) => `many-${String(k).padStart(3, '0')}`)
  const { repository } = world.features.runs
  await Promise.all(
    names.map((name) => repository.updateSettings(name, undefined, {}, { restart: false, remake: false })),
  )
  const last = page.getByRole('link', { name: 'many-100', exact: true })
  await watched.visit('#/runs?sort=name')
  await page.getByRole('link', { name: 'many-000', exact: true }).waitFor()
  await page.getByText(/^50 of 10\d runs$/).waitFor()
  expect(await page.getByRole('columnheader', { name: 'step' }).getByRole('button').count()).toBe(0)
  expect(await last.count()).toBe(0)
  await page.getByRole('searchbox').fill('many-1')
  await last.waitFor()
  await page.getByText('1 run', { exact: true }).waitFor()
  await page.getByRole('columnheader', { name: 'step' }).getByRole('button').waitFor()
  await page.getByRole('combobox', { name: 'State' }).selectOption('with warnings')
  await page.getByText('No run matches the filters.').waitFor()
  await page.getByRole('combobox', { name: 'State' }).selectOption('')
  await page.getByRole('searchbox').fill('')
  for (const shown of ['50', '100']) {
    await page.getByText(new RegExp(`^${shown} of 10\\d runs$`)).waitFor()
    await page.getByRole('button', { name: 'More runs' }).click()
  }
  await last.waitFor()
})

it('long answers that look alike are counted apart, and shown where they differ', async () => {
  const run = 'long-answers'
  await world.call('PUT', `/runs/${run}`, { tasks: ['gcd'], min_trained_tokens: 0, buffer: false })
  const answer = (middle: string) => `<answer>${'1, '.repeat(200)}${middle}${', 2'.repeat(200)}</answer>`
  await post(
    run,
    ['a', 'b', 'c'].map((middle) => ({ completion: answer(middle) })),
  )
  await watched.visit(`#/runs/${run}/groups`)
  const row = page.getByRole('list', { name: 'List of groups' }).getByRole('link')
  await row.locator('bdi').waitFor() // so that an answer in Arabic leaves the direction of the count as it is
  await row.getByText('× 1').waitFor()
  await row.click()
  for (const middle of ['a', 'b', 'c'])
    await page
      .getByRole('row')
      .getByText(new RegExp(`^….*1, ${middle}, 2`))
      .waitFor()
})

it('a hack is marked in the list of groups, and found among the best or by a filter', async () => {
  const run = 'hacked'
  await world.call('PUT', `/runs/${run}`, {
    tasks: ['complex_arithmetic'],
    scoring: 'upstream',
    min_trained_tokens: 0,
    buffer: false,
  })
  await post(run, [{ completion: 'no' }, { completion: 'no' }])
  await post(
    run,
    ['nan', 'no'].map((text) => ({ completion: `<answer>${text}</answer>` })),
  )
  const rows = page.getByRole('list', { name: 'List of groups' }).getByRole('link')
  await watched.visit(`#/runs/${run}/groups?sort=best`)
  await rows.nth(1).waitFor()
  await rows.first().getByText('paid, not right').waitFor()
  expect(await page.getByText('paid, not right', { exact: true }).count()).toBe(1)
  await page.getByLabel('Paid, not right').check()
  await page.getByText(/^1 found/).waitFor()
  await watched.shoot('paid-not-right')
  expect(await watched.faults(['color-contrast'])).toEqual([])
})

it('warnings come first on the overview, and those of a kind are one row with the names of their tasks', async () => {
  const run = 'warned'
  await world.call('PUT', `/runs/${run}`, { tasks: ['gcd', 'lcm'], min_trained_tokens: 0, buffer: false })
  const { items } = (await world.call('POST', '/items', { run, count: 60, step: 3 }, { prefer: 'wait=60' })).body
  const rollouts = ['7777', '7777'].map((text) => ({ completion: `<answer>${text}</answer>` }))
  const groups = items.map(({ id }: { id: string }) => ({ item_id: id, rollouts, policy_version: 3 }))
  await world.call('POST', '/rollouts', { run, groups }, { prefer: 'wait=60' })
  const { marks, runs } = world.features.runs
  await marks.sweepWarnings((name) => runs.get(name))
  await watched.visit('')
  await page.getByRole('region', { name: 'Runs' }).getByRole('row').nth(1).getByText('2 warnings').waitFor()
  await watched.visit(`#/runs/${run}`)
  await page
    .getByRole('status')
    .getByText(/Also: collapsed of lcm\./)
    .waitFor()
  const folded = page.getByRole('region', { name: 'Diagnosis', exact: true }).locator('.bullets li')
  await folded.getByRole('link', { name: 'lcm' }).waitFor()
  expect(await folded.count()).toBe(1)
  await watched.shoot('warned')
})

it('rewards below 0 have colours of their own', async () => {
  const run = 'below'
  const settings = {
    length_penalty: { kind: 'dapo', buffer: 10, factor: 1 },
    max_token_length: 20,
    min_trained_tokens: 0,
  }
  await world.call('PUT', `/runs/${run}`, { ...settings, tasks: ['gcd'], group_size: 2, batch_size: 2 })
  await post(run, [
    { completion: 'too long', length_tokens: 100 },
    { completion: 'short', length_tokens: 1 },
  ])
  await world.call('POST', `/runs/${run}/batches`, { step: 0 })
  await watched.visit(`#/runs/${run}`)
  await page.getByRole('button', { name: 'Reward', exact: true }).click()
  await page.getByRole('table', { name: 'Reward by task' }).waitFor()
  await page.getByRole('table', { name: 'Reward by task' }).getByText('−0.50').waitFor()
  await page.getByRole('link', { name: 'Groups', exact: true }).click()
  await page.locator('.entries .spread i').nth(1).waitFor()
  const [low = 0, high = 0] = await page.evaluate<number[]>(
    "[...document.querySelectorAll('.entries .spread i')].map((bar) => bar.clientHeight)",
  )
  expect(low).toBeLessThan(high)
})

it('groups that wait for a dump file are told', async () => {
  const run = 'dumping'
  await world.call('PUT', `/runs/${run}`, { tasks: ['gcd'], dump_rollouts: 'all', min_trained_tokens: 0 })
  await post(run, [{ completion: 'no' }, { completion: '<answer>1</answer>' }])
  await watched.visit(`#/runs/${run}`)
  await page.getByText('1 group waits for the next rollouts file. The server writes it at 100 groups').waitFor()
  expect(await page.getByText('There are no dump files yet').count()).toBe(0)
  await page.getByText('1 group of at most 4,096').or(page.getByText('0 groups of at most 4,096')).first().waitFor()
})

it('an eval that asks no model says what it waits for', async () => {
  const { body } = await world.call('POST', '/eval', { model: null, suite: { tasks: ['gcd'], n: 1 } })
  await watched.visit(`#/evals/${body.id}`)
  await page.getByText(`POST /eval/${body.id}/completions`).waitFor()
})

it('a policy that gives one answer to every question is warned of, in its state and beside its figures', async () => {
  const run = 'collapsed'
  await world.call('PUT', `/runs/${run}`, { tasks: ['gcd'], min_trained_tokens: 0, buffer: false })
  const { items } = (await world.call('POST', '/items', { run, count: 30, step: 0 }, { prefer: 'wait=60' })).body
  const rollouts = [{ completion: '<answer>1</answer>' }, { completion: '<answer>1</answer>' }]
  const groups = items.map(({ id }: { id: string }) => ({ item_id: id, rollouts }))
  await world.call('POST', '/rollouts', { run, groups }, { prefer: 'wait=30' })
  const { marks, runs } = world.features.runs
  await marks.sweepWarnings((name) => runs.get(name))
  await marks.sweepWarnings((name) => runs.get(name))
  const kept = (await world.call('GET', `/runs/${run}/marks`)).body.marks
  expect(kept).toMatchObject([{ kind: 'warning', text: 'collapsed', task: 'gcd' }])
  await watched.visit(`#/runs/${run}`)
  await page.getByText(/The last \d+ groups carry no signal: \d+ groups of gcd/).waitFor()
  const panel = page.getByRole('region', { name: 'Diagnosis', exact: true })
  await page.getByRole('list', { name: 'Marks' }).getByRole('link', { name: 'noticed: collapsed of gcd' }).waitFor()
  await watched.shoot('collapsed')
  await panel.locator('td .chip.bad', { hasText: '0.00' }).waitFor()
  await panel.getByText(/100% of the answers to \d+ different questions of gcd are "1"/).waitFor()
  expect(await panel.getByRole('link', { name: 'Groups' }).first().getAttribute('href')).toBe(
    `#/runs/${run}/groups?task=gcd`,
  )
  for (const lifecycle of ['finished', 'archived']) {
    await world.call('PATCH', `/runs/${run}`, { lifecycle })
    await watched.visit(`#/runs/${run}`)
    const told = page.getByRole('status').filter({ hasText: /^1 warning/i })
    await told.getByText(/100% of the answers to \d+ different questions/).waitFor()
    if (lifecycle === 'archived') {
      for (const [name, options] of [
        ['dark', { scheme: 'dark' }],
        ['phone', { width: 360, height: 800 }],
      ] as const) {
        await watched.visit(`#/runs/${run}`, options)
        await panel.waitFor()
        await watched.shoot(`collapsed-${name}`)
        expect(await watched.faults(['color-contrast'])).toEqual([])
      }
    }
    await watched.visit(`#/runs?archived=true`)
    await page
      .getByRole('row', { name: /collapsed/ })
      .getByText('1 warning')
      .waitFor()
  }
})

it('a run without steps is drawn over time, and its tasks as bars that do not look full', async () => {
  const run = 'no-steps'
  await world.call('PUT', `/runs/${run}`, { tasks: ['gcd'], min_trained_tokens: 0, buffer: false })
  for (let k = 0; k < 9; k++) await post(run, [{ completion: 'no' }, { completion: `<answer>${k}</answer>` }])
  await watched.visit(`#/runs/${run}`)
  await page.getByRole('img', { name: /^Correct rollouts: correct \d+%/ }).waitFor()
  const style = await page.getByRole('table').locator('.wide .bar i').first().getAttribute('style')
  expect(Number(/width: ([0-9.]+)%/.exec(style ?? '')?.[1])).toBeLessThan(100)
  expect(await page.getByText('Only one point so far').count()).toBe(0)
})

it('a group that is opened while it waits shows its rollouts once they are scored', async () => {
  const run = 'waits'
  await world.call('PUT', `/runs/${run}`, { tasks: ['gcd'] })
  const { body } = await world.call('POST', '/items', { run, step: 0, count: 1 }, { prefer: 'wait=60' })
  await world.stopWorkers()
  const group = { run, item_id: body.items[0].id, group_id: 'early', rollouts: [{ completion: 'no tag' }] }
  await world.call('POST', '/rollouts', group)
  await watched.visit(`#/runs/${run}/groups/early`)
  await page.getByRole('heading', { name: 'queued' }).waitFor()
  world.startWorker()
  await page.getByRole('article', { name: 'Rollout 1' }).getByText('no tag').waitFor()
})

it('a run at the frontier shows difficulty, its estimate at 50%, interval and guess floor of a task', async () => {
  await world.call('PUT', '/runs/frontier-a', { tasks: ['leg_counting', 'gcd'], complexity_mode: 'frontier' })
  const { epoch } = await world.features.runs.runs.require('frontier-a')
  const { frontierEvidence } = createRunKeys(world.platform.keys).forRun('frontier-a', epoch)
  for (let k = 0; k < 24; k++) {
    const piece = {
      step: k,
      time: '',
      task: ['leg_counting', 'gcd'][k % 2],
      score: [0.25, 0.5, 0, 0.5][k % 4],
      rollouts: 8,
      formatted: 1,
      difficulty: [0, 0.4, 0.5, 0.4][k % 4],
      floor: 0,
    }
    await world.platform.redis.rpush(frontierEvidence, JSON.stringify(piece))
  }
  await watched.visit('#/runs/frontier-a')
  const panel = page.getByRole('region', { name: 'Frontier' })
  await panel.getByRole('combobox').selectOption('gcd')
  await panel
    .getByRole('img', {
      name: /^Difficulty of gcd: difficulty 0\.\d+, difficulty at 50% [01]\.\d+, guess floor [0-9.]+, 90% interval [01]\.\d+ to [01]\.\d+$/i,
    })
    .waitFor()
  await panel.getByRole('img', { name: /^Accuracy of gcd by difficulty: \d+% at 0\.40$/ }).waitFor()
  await panel.getByRole('combobox').selectOption('leg_counting')
  // A model that fails on the easiest rung has its place below the ladder.
  await panel
    .getByRole('img', { name: /^Difficulty of leg_counting: .*difficulty at 50% 0\.00.* 0\.00 to [01]\.\d+$/i })
    .waitFor()
  await page.getByRole('region', { name: 'Tasks' }).getByRole('cell', { name: 'below 0', exact: true }).waitFor()
  expect(page.url()).toContain('task=leg_counting')
  await watched.shoot('frontier')
  expect(await watched.faults()).toEqual([])
})

it('a run that dropped stale groups compares them with those that it kept', async () => {
  const settings = { tasks: ['gcd'], group_size: 1, batch_size: 1, max_policy_lag: 0, min_trained_tokens: 0 }
  await world.call('PUT', '/runs/late', settings)
  const items = await takeItems(world, 'late', 3)
  for (const [k, length_tokens] of [30, 90, 20].entries()) {
    const group = {
      item_id: items[k]?.id,
      policy_version: k === 2 ? 1 : 0,
      rollouts: [{ completion: 'a', length_tokens }],
    }
    await world.call('POST', '/rollouts', { run: 'late', ...group }, { prefer: 'wait=60' })
  }
  for (const step of [0, 1]) await world.call('POST', '/runs/late/batches', { step })
  await watched.visit('#/runs/late')
  await page.getByRole('row', { name: 'all tasks 33% 2 | 1 25 | 90' }).waitFor()
  await watched.shoot('run-with-dropped-groups')
  expect(await watched.faults()).toEqual([])
})
