/** Rows of docs/design/security.md: what a page of another origin in the user's browser can do to the server. */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadKeyRing } from '../../src/http/auth/key-ring.ts'
import { keysOf, openWorld, until, type World } from '../world.ts'
import { openBrowser } from './browser.ts'

const REBOUND = 'rebound.example'

let browser: Browser
let attacker: Server
let attackerPort: number
beforeAll(async () => {
  const script = readFileSync(join(import.meta.dirname, '..', 'fixtures', 'attacker-page.js'), 'utf8')
  const page = `<!doctype html><title>attacker</title><body><script type="module">${script}</script>`
  attacker = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page)
  })
  await new Promise<void>((resolve) => attacker.listen(0, resolve))
  attackerPort = (attacker.address() as AddressInfo).port
  browser = await openBrowser(undefined, [`--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`])
})
afterAll(async () => {
  await browser?.close()
  attacker.close()
})

describe.each([
  ['with keys', true],
  ['without keys, where every local caller is an admin', false],
])('%s', (_name, hasKeys) => {
  let world: World
  let url: string
  /** The user's, with the dashboard open. */
  let context: BrowserContext
  beforeAll(async () => {
    const keyRing = hasKeys ? loadKeyRing({ API_KEYS: 'admin:an-admin', API_KEYS_FILE: undefined }) : undefined
    world = await openWorld({ keyRing })
    url = await world.app.listen({ host: '127.0.0.1', port: 0 })
    await call('PUT', '/runs/victim', { tasks: ['gcd'], group_size: 1, batch_size: 1 })
    context = await browser.newContext()
    const dashboard = await context.newPage()
    await dashboard.goto(`${url}/`)
    if (hasKeys) await dashboard.evaluate("sessionStorage.setItem('rgs-key', 'an-admin')")
  })
  afterAll(async () => {
    await context.close()
    await world.close()
  })

  const call = (method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) =>
    world.call(method, path, body, hasKeys ? { authorization: 'Bearer an-admin' } : {})
  /** All that the server has stored of runs, evals and collections. */
  const state = async () => {
    const { redis } = world.platform
    const keys = (await keysOf(redis, `*${world.prefix}:*`)).filter(
      (key) => !/limit|usage|nodes|lease|heartbeat/.test(key),
    )
    const [runs, victim] = [await call('GET', '/runs'), await call('GET', '/runs/victim')]
    return {
      keys: keys.filter((key) => /run|eval|collect|batch/.test(key)).toSorted(),
      runs: runs.body.runs.length,
      victim: victim.body.progress,
    }
  }
  /** A page of another port of this machine, and one of another site; the user has the dashboard open beside it. */
  const asAttacker = async (origin: string, act: (page: Page) => Promise<void>) => {
    const page = await context.newPage()
    try {
      await page.goto(origin)
      await act(page)
    } finally {
      await page.close()
    }
  }
  const origins = () => [`http://127.0.0.1:${attackerPort}/`, `http://attacker.localhost:${attackerPort}/`]

  /** Method, path and status of each answer to a page of another origin, as the server sees it: the browser shows only some. */
  const watchAnswers = () => {
    const answers: [name: string, status: number][] = []
    world.app.server.on('request', ({ method, url: path, headers }: IncomingMessage, response: ServerResponse) => {
      if (!['cross-site', 'same-site'].includes(String(headers['sec-fetch-site']))) return
      response.once('finish', () =>
        answers.push([`${method} ${path} ${headers['sec-fetch-dest']}`, response.statusCode]),
      )
    })
    return answers
  }

  it('forms, requests without CORS, beacons and pictures change nothing', async () => {
    const before = await state()
    const answers = watchAnswers()
    for (const origin of origins()) {
      await asAttacker(origin, async (page) => {
        answers.length = 0
        const { begun, read } = await page.evaluate<{ begun: number; read: string[] }>(`forge(${JSON.stringify(url)})`)
        expect(read).toEqual([])
        await until(
          async () => answers.length,
          (count) => count >= begun,
        )
        expect(new Set(answers.map(([name]) => name.split(' ').at(-1)))).toEqual(new Set(['iframe', 'empty', 'image']))
        expect(answers.filter(([name, status]) => status < 400 && !name.startsWith('OPTIONS'))).toEqual([])
      })
    }
    expect(await state()).toEqual(before)
  })

  it('neither the dashboard nor the documentation is shown in a frame, or reached through a window', async () => {
    for (const origin of origins()) {
      await asAttacker(origin, async (page) => {
        for (const path of ['/', '/docs', '/docs/', '/runs', '/dashboard/app.js', '/nothing-there']) {
          await page.evaluate(`showInFrame(${JSON.stringify(url + path)})`)
          const shown = await Promise.all(
            page
              .frames()
              .slice(1)
              .map(
                async (frame) =>
                  (await frame.content().catch(() => '')).length > 200 && !frame.url().startsWith('chrome-error:'),
              ),
          )
          expect([path, shown]).toEqual([path, shown.map(() => false)])
        }
        const [opened] = await Promise.all([
          context.waitForEvent('page'),
          page.evaluate(`openWindow(${JSON.stringify(url)})`),
        ])
        await opened.waitForURL(`${url}/`, { waitUntil: 'commit' })
        await expect.poll(() => page.evaluate('opened.closed')).toBe(true) // out of reach, as the server's pages want it
        await opened.close()
      })
    }
  })

  it('a name of the attacker that leads to this machine does not make its page one of the server', async () => {
    const { port } = new URL(url)
    const context = await browser.newContext()
    try {
      const page = await context.newPage()
      const before = await state()
      for (const path of ['/runs', '/runs/victim/batches/0', '/metrics']) {
        const response = await page.goto(`http://${REBOUND}:${port}${path}`)
        expect([401, 403]).toContain(response?.status())
      }
      const status = await page.evaluate(
        `fetch('/items', { method: 'POST' }).then(({ status }) => status, () => 'blocked by the policy of the page')`,
      )
      expect([401, 403, 'blocked by the policy of the page']).toContain(status)
      expect(await state()).toEqual(before)
    } finally {
      await context.close()
    }
  })
})
