import { type MockModel, startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, until, type World } from '../world.ts'
import { openBrowser, openPage, type Watched } from './browser.ts'

const TASKS = ['leg_counting', 'gcd', 'spell_backward', 'number_sorting']
const PHONE = { width: 360, height: 800 }

let world: World
let browser: Browser
let model: MockModel
let url: string
const done: string[] = []
/** Visits one page after another. */
let watched: Watched
let page: Page

beforeAll(async () => {
  world = await openWorld({ worker: true })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  await world.call('PUT', '/runs/trained', { tasks: TASKS, num_eval_samples_per_task: 6 })
  model = await startMockModel({ server: { url }, accuracy: 0.6, formatFaults: 0.2 })
  browser = await openBrowser()
  watched = await openPage(browser, url)
  page = watched.page
  for (const step of [0, 100]) done.push(await aDoneEval(step))
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await model?.close()
  await world.close()
})

async function aDoneEval(step: number): Promise<string> {
  const { body } = await world.call('POST', '/eval', {
    model: { name: 'mock', base_url: model.url },
    suite: 'run',
    run: 'trained',
    samples_per_item: 2,
    seed: step,
    step,
  })
  await until(
    async () => (await world.call('GET', `/eval/${body.id}`)).body,
    ({ status }) => status === 'done',
    90_000,
  )
  return body.id
}

async function assertSound(name: string, only?: string[]): Promise<void> {
  await watched.shoot(name)
  expect(await watched.faults(only)).toEqual([])
}

it('one is started from the page, and shows its progress until it is done', async () => {
  await watched.visit('#/evals')
  await page.getByLabel('Base URL').fill(model.url)
  await page.getByLabel('Model', { exact: true }).fill('mock')
  await page.locator('select[name=run]').selectOption('trained')
  await page.locator('select[name=suite]').selectOption('run')
  await page.getByLabel('Samples per item').fill('2')
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByText('Mean score', { exact: true }).waitFor({ timeout: 60_000 })
  await page.getByText('done', { exact: true }).waitFor()
})

it('one on tasks of our own, under hardened scoring, is started from the page; its time and its tokens show', async () => {
  await watched.visit('#/evals')
  await page.getByLabel('Base URL').fill(model.url)
  await page.getByLabel('Model', { exact: true }).fill('mock')
  await page.getByLabel('Tasks instead').fill('gcd, leg_counting')
  await page.getByLabel('Items per task').fill('3')
  await page.getByLabel('Scoring').selectOption('hardened')
  await watched.shoot('eval-form')
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByText(/^[\d.]+K? tokens, \d+ on average$/).waitFor({ timeout: 60_000 })
  await page.getByText(/, took [\d.]+ (s|ms)$/).waitFor()
  const id = /evals\/([^/?]+)/.exec(page.url())?.[1]
  const { result } = (await world.call('GET', `/eval/${id}`)).body
  expect(result).toMatchObject({ items: 6, repeat: { scoring: 'hardened' } })
  expect(Object.keys(result.tasks)).toEqual(['gcd', 'leg_counting'])
})

it('one shows figures, bars with their intervals, and its samples to read', async () => {
  await watched.visit(`#/evals/${done[0]}`)
  await page
    .getByRole('img', { name: /^0\.\d{3}, from / })
    .first()
    .waitFor()
  await page.getByLabel('Compare with').waitFor()
  await page.getByRole('navigation', { name: 'Views of this eval' }).getByRole('link', { name: 'Samples' }).click()
  await page.getByText('48 of 48 shown').waitFor()
  await page.getByLabel('Show').selectOption('wrong')
  await page.getByText(/found\. Searched 48 of 48 samples/).waitFor()
  await page.getByRole('list', { name: 'List of samples' }).getByRole('link').first().click()
  await page.getByRole('region', { name: 'Question' }).waitFor()
  const sample = page.getByRole('article', { name: /^Sample s\d+$/ })
  await sample.getByText(/^The answer differs|^There is/).waitFor()
  const address = page.url()
  expect(address).toMatch(/\/samples\/s\d+\?show=wrong$/)
  await page.keyboard.press('ArrowRight')
  await page.waitForURL((to) => to.href !== address && to.hash.includes('/samples/s'))
  await page.keyboard.press('k')
  await page.waitForURL(address)
  await sample.waitFor()
  await page.getByLabel('Search').fill('no such words')
  await page.getByText('No sample matches the filters').waitFor()
  await page.getByLabel('Search').fill('')
  await page.getByRole('list', { name: 'List of samples' }).getByRole('link').first().waitFor()
  await assertSound('eval')
})

it('one that was cancelled is resumed from its page, and offers no wrong answers before it has any', async () => {
  await world.stopWorkers() // so that it has no answers, and is not done before it is cancelled
  const { body } = await world.call('POST', '/eval', {
    model: { name: 'mock', base_url: model.url },
    suite: { tasks: TASKS, n: 40 },
    concurrency: 1,
  })
  await world.call('DELETE', `/eval/${body.id}`)
  await watched.visit(`#/evals/${body.id}`)
  await page.getByText('cancelled', { exact: true }).waitFor()
  await page.getByText('What to do next').waitFor()
  expect(await page.getByRole('link', { name: 'Read the wrong answers' }).count()).toBe(0)
  await assertSound('eval-resume')
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Resume' }).click()
  world.startWorker()
  await page.getByText('done', { exact: true }).waitFor({ timeout: 60_000 })
})

it('a frontier shows where half is right, task by task', async () => {
  const { body } = await world.call('POST', '/eval', {
    model: { name: 'mock', base_url: model.url },
    suite: { mode: 'frontier', tasks: TASKS.slice(0, 2), n: 8 },
  })
  await until(
    async () => (await world.call('GET', `/eval/${body.id}`)).body,
    ({ status }) => status === 'done',
    60_000,
  )
  await watched.visit(`#/evals/${body.id}`)
  await page.getByRole('region', { name: 'Frontier' }).getByRole('rowheader', { name: 'gcd' }).waitFor()
  await page.getByText('What to do next').waitFor()
  await assertSound('frontier')
})

it('all of them, with the curve of a run; two are picked and compared', async () => {
  await watched.visit('#/evals')
  await page.getByRole('img', { name: /^Mean score over training: trained, run/ }).waitFor()
  await page.getByRole('region', { name: 'All evals' }).getByRole('combobox', { name: /^Run/ }).selectOption('trained')
  expect(page.url()).toContain('run=trained')
  await page.getByRole('button', { name: 'score', exact: true }).click()
  for (const id of done) await page.getByLabel(`Select ${id}`).check()
  await watched.shoot('evals')
  expect(await watched.findings()).toEqual([])
  await page.getByRole('link', { name: 'Compare the selected evals' }).click()
  await page.getByRole('heading', { name: 'step 0 vs. step 100' }).waitFor()
  await page.getByRole('rowheader', { name: 'gcd' }).waitFor()
  const flips = page.getByRole('region', { name: 'Items that flipped' })
  await flips.getByRole('button', { name: /^Only step 100 is right/ }).click()
  expect(page.url()).toContain('right=b')
  await flips.locator('summary').first().click()
  await flips.getByText('Expected answer').first().waitFor()
  expect(await flips.getByRole('link', { name: /^step 0, sample s\d+$/ }).getAttribute('href')).toMatch(
    /^#\/evals\/eval-\w+\/samples\/s\d+$/,
  )
  await assertSound('compare')
})

it('the scores of all evals are in sight on a phone, also beside one with a long reason', async () => {
  const { body } = await world.call('POST', '/eval', {
    model: { name: 'unreachable', base_url: 'http://127.0.0.1:9/v1' },
    suite: { tasks: ['gcd'], n: 1 },
  })
  await until(
    async () => (await world.call('GET', `/eval/${body.id}`)).body,
    ({ status }) => status === 'failed',
    60_000,
  )
  await watched.visit('#/evals', PHONE)
  const cell = page.getByRole('table', { name: 'Evals' }).or(page.locator('table')).first()
  await cell.locator('tbody tr').first().waitFor()
  const right = await cell.evaluate((table) =>
    Math.max(...[...table.querySelectorAll('td.num')].map((one) => one.getBoundingClientRect().right)),
  )
  expect(right).toBeLessThanOrEqual(PHONE.width)
  await assertSound('evals-phone')
})

it('one is sound in the dark and on a phone', async () => {
  await watched.visit(`#/evals/${done[1]}`, { scheme: 'dark' })
  await page.getByText('What to do next').waitFor()
  await assertSound('eval-dark', ['color-contrast']) // the others do not ask for colors
  await watched.visit(`#/evals/${done[1]}`, PHONE)
  await page.getByText('What to do next').waitFor()
  await assertSound('eval-phone')
})
