import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadKeyRing } from '../../src/http/auth/key-ring.ts'
import { openWorld, type World } from '../world.ts'
import { openBrowser, openPage } from './browser.ts'

const PHONE = { width: 390, height: 844 }

let world: World
let browser: Browser
let url: string

beforeAll(async () => {
  const keyRing = loadKeyRing({ API_KEYS: 'admin:an-admin', API_KEYS_FILE: undefined })
  world = await openWorld({ keyRing, PYTHON_WORKERS: 1 })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await world.close()
})

it('a call is made by hand: the key is entered, the example sent as it stands, and answered', async () => {
  const watched = await openPage(browser, url)
  const { page } = watched
  await page.goto(`${url}/docs/`)
  await page.locator('.filter input').fill('scoring') // roles and names of all calls would take seconds to compute
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
  expect(await rejected.locator('.highlight-code').textContent()).toContain('"code": "invalid_config"')
  expect(await rejected.locator('.response-col_description__inner').textContent()).toContain('invalid_item_id')
  await watched.shoot('swagger')
  await page.reload()
  await page.locator('.scheme-container').getByRole('button', { name: 'Authorize' }).waitFor()
  expect(await page.evaluate('[sessionStorage.authorized.includes("an-admin")]')).toEqual([true])
  expect(watched.troubles).toEqual([])
  await watched.close()
}, 120_000)

it('fits on a phone; calls are searched by the filter box and by the browser; those of trainers have a tag each', async () => {
  const watched = await openPage(browser, url, PHONE)
  const { page } = watched
  await page.goto(`${url}/docs/`)
  await page.locator('.info .description').first().waitFor()
  await page.locator('.opblock').first().waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
  const text = await page.evaluate<string>('document.body.innerText')
  for (const path of ['/tasks', '/runs/{run}/batches', '/metrics']) expect(text).toContain(path)
  const filter = page.getByRole('textbox', { name: 'Filter' })
  await filter.fill('batches')
  await page.locator('#operations-tasks-listTasks').waitFor({ state: 'detached' })
  expect(await page.locator('.opblock').count()).toBe(3)

  await filter.fill('runs')
  for (const method of ['get', 'put', 'post', 'patch', 'delete'])
    await page.locator(`.opblock-${method}`).first().waitFor() // all colors of calls, for axe
  await page.setViewportSize({ width: 1280, height: 900 })
  expect(await watched.faults()).toEqual([])

  await filter.fill('')
  await page.locator('.topbar select').selectOption({ label: 'Calls of trainers' })
  await page.locator('#operations-tag-openrlhf').waitFor()
  expect(await page.locator('.opblock').count()).toBe(0)
  await page.locator('#operations-tag-openrlhf').click()
  await page.getByText('/openrlhf/{run}/get_reward').waitFor()
  expect(await watched.faults()).toEqual([])
  await watched.close()
}, 60_000)
