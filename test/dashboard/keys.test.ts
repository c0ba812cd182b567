import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadKeyRing } from '../../src/http/auth/key-ring.ts'
import { openWorld, type World } from '../world.ts'
import { openBrowser, openPage } from './browser.ts'

let world: World
let browser: Browser
let url: string

beforeAll(async () => {
  const keyRing = loadKeyRing({ API_KEYS: 'reader:a-reader,admin:an-admin', API_KEYS_FILE: undefined })
  world = await openWorld({ keyRing })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await world.close()
})

it('asks for a key, sends it in a header, and keeps it in this session alone', async () => {
  const watched = await openPage(browser, url, {}, /401/)
  const { page } = watched
  const sent: (string | undefined)[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/events')) sent.push(request.headers().authorization)
  })
  await page.goto(`${url}/`)
  await page.getByText('This server requires an API key').waitFor()
  await watched.shoot('key')
  await page.getByLabel('API key', { exact: true }).fill('a-reader')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('live', { exact: true }).waitFor()
  expect(sent.at(-1)).toBe('Bearer a-reader')
  expect(await page.evaluate('[JSON.stringify(localStorage).includes("a-reader"), document.cookie]')).toEqual([
    false,
    '',
  ])
  expect(page.url()).not.toContain('a-reader')

  await page.goto(`${url}/#/tasks/leg_counting`)
  await page
    .getByText('This needs a key with the role trainer, evaluator or admin. Your key has the role reader.')
    .waitFor()
  expect(await page.getByRole('button', { name: 'Score', exact: true }).isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'Show the answer' }).count()).toBe(0)
  await page.getByTitle(/^Your API key \(…er\) has the role reader/).waitFor()
  expect(await page.getByText('Reference answer', { exact: true }).count()).toBe(0)

  await page.getByRole('button', { name: 'Delete the API key' }).click()
  await page.getByText('This server requires an API key').waitFor()
  expect(watched.troubles.filter((trouble) => !trouble.includes('403'))).toEqual([])
  await watched.close()
})
