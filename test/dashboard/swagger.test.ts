import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadKeyRing } from '../../src/http/auth/key-ring.ts'
import { openWorld, type World } from '../world.ts'
import { openBrowser, openPage, type Watched } from './browser.ts'

let world: World
let browser: Browser
/** One for all tests: loading and drawing all calls takes 4 s of processor time. */
let watched: Watched
let page: Page

beforeAll(async () => {
  const keyRing = loadKeyRing({ API_KEYS: 'admin:an-admin', API_KEYS_FILE: undefined })
  world = await openWorld({ keyRing })
  const url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  browser = await openBrowser()
  watched = await openPage(browser, url)
  page = watched.page
  await page.goto(`${url}/docs/`)
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await world.close()
})

/** Shows the calls of a definition whose tags contain `filter`. */
async function show(definition: 'API' | 'Calls of trainers', filter: string): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 900 })
  const select = page.locator('.topbar select')
  const shown = await select.locator('option:checked').textContent()
  if (shown !== definition) await select.selectOption({ label: definition })
  await page.locator('.filter input').fill(filter)
}

it('a call is made by hand: the key is entered, the example sent as it stands, and answered', async () => {
  await show('API', 'scoring')
  await page.locator('#operations-tasks-listTasks').waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Dashboard' }).waitFor()
  await page.getByRole('button', { name: 'Authorize' }).first().click()
  await page.locator('.auth-container').first().getByRole('textbox').fill('an-admin')
  await page.locator('.auth-container').first().getByRole('button', { name: 'Apply credentials' }).click()
  await page.getByRole('button', { name: 'Close' }).first().click()
  const operation = page.locator('#operations-scoring-scoreCompletions')
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Execute' }).click()
  const answer = operation.locator('.live-responses-table .response')
  await answer.waitFor()
  expect(await answer.locator('.response-col_status').first().textContent()).toContain('200')
  expect(await answer.textContent()).toContain('"rewards"')
  const rejected = operation.locator('.responses-wrapper .response[data-code="400"]')
  expect(await rejected.locator('.highlight-code').textContent()).toContain('"code": "invalid_request"')
  expect(await rejected.locator('.response-col_description__inner').textContent()).toContain('invalid_item_id')
  await watched.shoot('swagger')
  for (const width of [360, 390, 420]) {
    await page.setViewportSize({ width, height: 844 })
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
  }
  await page.setViewportSize({ width: 1280, height: 900 })
  await operation.locator('.opblock-summary-control').click() // closed, it is not opened again by its address
  await answer.waitFor({ state: 'detached' })
  await page.reload()
  await page.locator('.scheme-container').getByRole('button', { name: 'Authorize' }).waitFor()
  expect(await page.evaluate('[sessionStorage.authorized.includes("an-admin")]')).toEqual([true])
  expect(watched.troubles).toEqual([])
}, 120_000)

it('all calls can be searched: by the browser, and by the filter box; they fit on a phone', async () => {
  await show('API', '')
  await page.locator('#operations-tasks-listTasks').waitFor()
  const text = await page.evaluate<string>('document.body.innerText')
  for (const path of ['/tasks', '/runs/{run}/batches', '/metrics']) expect(text).toContain(path)
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
  await page.getByRole('textbox', { name: 'Filter' }).fill('batches')
  await page.locator('#operations-tasks-listTasks').waitFor({ state: 'detached' })
  expect(await page.locator('.opblock').count()).toBe(3)
})

it('axe finds nothing in calls of any method', async () => {
  await show('API', 'runs')
  await page.locator('#operations-tasks-listTasks').waitFor({ state: 'detached' })
  for (const method of ['get', 'put', 'post', 'patch', 'delete'])
    await page.locator(`.opblock-${method}`).first().waitFor()
  expect(await watched.faults()).toEqual([])
})

it('the calls of trainers are the second definition, with a collapsed tag for each trainer', async () => {
  await show('Calls of trainers', '')
  await page.locator('#operations-tag-openrlhf').waitFor()
  expect(await page.locator('.opblock').count()).toBe(0)
  await page.locator('#operations-tag-openrlhf').click()
  await page.getByText('/openrlhf/{run}/get_reward').waitFor()
  expect(await watched.faults()).toEqual([])
})
