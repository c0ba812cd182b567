import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, type World } from '../world.ts'
import { openBrowser, openPage, type Watched } from './browser.ts'

const PROVOKED = /ERR_|Failed to load/

let world: World
let browser: Browser
let door: Door
/** Visits one page after another. */
let watched: Watched
let page: Page

beforeAll(async () => {
  world = await openWorld({ PYTHON_WORKERS: 1 })
  door = await openDoor(await world.app.listen({ host: '127.0.0.1', port: 0 }))
  browser = await openBrowser()
  watched = await openPage(browser, door.url)
  page = watched.page
  await page.clock.install()
})
afterAll(async () => {
  await browser?.close()
  await door?.close()
  await world.close()
})

type Door = Awaited<ReturnType<typeof openDoor>>

/** What stands between page and server: it lets all pass, nothing at all while it is `stuck`, and breaks all off while `shut`. */
async function openDoor(to: string) {
  let is: 'open' | 'stuck' | 'shut' = 'open'
  const server = createServer((asked, answer) => {
    if (is === 'shut') asked.socket.destroy()
    if (is !== 'open') return
    const onward = request(`${to}${asked.url}`, { method: asked.method, headers: asked.headers }, (given) => {
      answer.writeHead(given.statusCode ?? 500, given.headers)
      given.on('data', (part) => is === 'open' && answer.write(part))
      given.on('end', () => is === 'open' && answer.end())
    })
    onward.on('error', () => answer.destroy())
    answer.on('close', () => onward.destroy())
    asked.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set(now: typeof is) {
      is = now
      if (now === 'shut') server.closeAllConnections()
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const visit = (hash: string) => watched.visit(hash, { forgiven: PROVOKED })

/** Lets what the page waits for be due, again and again until it shows. What it waits for is 1 to 15 seconds away. */
async function hurryUntil(one: Page, shown: Locator, state: 'visible' | 'detached' = 'visible'): Promise<void> {
  const hurry = async () => {
    await one.clock.fastForward(5000)
    return (await shown.count()) > 0
  }
  // Streams are given up after ten seconds of the page's time: a second for each to begin.
  await expect.poll(hurry, { interval: 500 }).toBe(state === 'visible')
}

it('a server that is stuck is not said to be as it was, nor a run live, until it speaks again', async () => {
  await world.call('PUT', '/runs/watched', { tasks: ['gcd'] })
  await visit('')
  const other = await openPage(browser, door.url, {}, PROVOKED)
  await other.page.clock.install()
  await other.page.goto(`${door.url}/#/runs/watched`)
  const both = [page, other.page]
  for (const one of both) await one.getByText('live', { exact: true }).waitFor()
  await page.getByText('No worker').waitFor()
  door.set('stuck')
  for (const one of both)
    await hurryUntil(one, one.getByText(/^The data below is from [0-9:]+, the time of the last response\.$/))
  expect(await page.getByText('No worker').count()).toBe(0)
  door.set('open')
  for (const one of both) {
    await hurryUntil(one, one.getByText('live', { exact: true }))
    await one.getByText('the time of the last response').waitFor({ state: 'detached' })
  }
  await other.close()
})

it('lists keep what they had, say that the server is away, and come back with it', async () => {
  for (const [hash, known] of [
    ['#/runs', 'watched'],
    ['#/evals', 'There are no evals yet'],
  ] as const) {
    await visit(hash)
    await page.getByText(known).first().waitFor()
    door.set('shut')
    await hurryUntil(page, page.getByText(/^The data below is from/))
    await page.getByText(known).first().waitFor()
    door.set('open')
    await hurryUntil(page, page.getByText(/^The data below is from/), 'detached')
  }
})

it('every page says that Redis does not answer, until it does', async () => {
  const { redis } = world.platform
  for (const hash of ['#/runs', '#/evals/none', '#/evals']) {
    await visit(hash)
    redis.disconnect()
    await hurryUntil(page, page.getByText(/^Redis at .* does not answer/))
    await redis.connect()
    await hurryUntil(page, page.getByText(/^Redis at .* does not answer/), 'detached')
  }
})

it('a page that could not be had says so, and appears when the server is back', async () => {
  await visit('#/tasks')
  await page.getByText('105 of 105').waitFor()
  door.set('shut')
  await page.getByRole('link', { name: /^gcd/ }).click()
  await page.getByRole('alert').getByText('The server does not answer.').waitFor()
  door.set('open')
  await page.getByRole('region', { name: 'Question' }).waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
})

it('a run that is deleted while it is looked at is not live', async () => {
  await world.call('PUT', '/runs/short-lived', { tasks: ['gcd'] })
  await visit('#/runs/short-lived')
  await page.getByText('live', { exact: true }).waitFor()
  await world.call('DELETE', '/runs/short-lived')
  await page.getByText('Unknown run').waitFor()
  await page.getByText('not live').waitFor()
})
