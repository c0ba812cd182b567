import { AdapterName, AdapterView } from '@reasoning-gym-server/contract/adapter'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadKeyRing } from '../../src/http/auth/key-ring.ts'
import { openWorld, until, type World } from '../world.ts'
import { openBrowser, openPage } from './browser.ts'

const KEYS = 'admin:an-admin,reader:a-reader,reader@mine:a-bound-reader'

let world: World
let browser: Browser
let url: string
beforeAll(async () => {
  world = await openWorld({ keyRing: loadKeyRing({ API_KEYS: KEYS, API_KEYS_FILE: undefined }), PYTHON_WORKERS: 1 })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await world.close()
})

const listAs = async (key: string, headers = {}): Promise<AdapterView[]> => {
  const { status, body } = await world.call('GET', '/adapters', undefined, { 'x-api-key': key, ...headers })
  expect(status).toBe(200)
  return body.adapters.map((adapter: unknown) => AdapterView.parse(adapter))
}

describe('GET /adapters', () => {
  it('has an adapter of each name, once, with the address under which the caller reached the server', async () => {
    const adapters = await listAs('a-reader', { host: 'gym.example:8080' })
    expect(adapters.map(({ name }) => name).toSorted()).toEqual(AdapterName.options.toSorted())
    for (const { name, snippets } of adapters) {
      const text = snippets.map(({ code }) => code).join('\n')
      expect([name, text.includes('gym.example')]).toEqual([name, true])
      expect([name, /127\.0\.0\.1:8000|localhost/.test(text)]).toEqual([name, false])
      expect([name, text.includes('a-reader')]).toEqual([name, false]) // a placeholder, not the caller's key
    }
  })

  it('every route that a description names is there', async () => {
    const known = new Set([...world.app.accessRules.keys()].map((route) => route.split(' ')[1]))
    for (const { name, paths } of await listAs('a-reader')) {
      for (const path of paths.flatMap(expandPath)) expect([name, path, known.has(path)]).toEqual([name, path, true])
    }
  })

  it('counts what came, and names a run only to those who may see it', async () => {
    world.features.adapters.usage.recordCalls('slime', 'theirs', 7, 2)
    await world.features.adapters.usage.flush()
    const useOf = async (key: string) => (await listAs(key)).find(({ name }) => name === 'slime')?.usage
    expect(await useOf('a-reader')).toEqual({
      samples: 7,
      unscored: 2,
      last_used: expect.any(String),
      last_run: 'theirs',
    })
    expect(await useOf('a-bound-reader')).toMatchObject({ samples: 7, last_run: null })
  })
})

it('the page lists the trainers; one shows what to paste, with the run that is named', async () => {
  const watched = await openPage(browser, url, {}, /401/)
  const { page } = watched
  await page.goto(`${url}/#/trainers`)
  await page.getByLabel('API key', { exact: true }).fill('an-admin')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /slime, miles.*rg_slime\.py.*7.*2.*theirs/ }).waitFor()
  await page.getByRole('row', { name: /^TRL.*rg_trl\.py.*never/ }).waitFor()
  await watched.shoot('trainers')
  expect(await watched.findings()).toEqual([])
  await page.getByRole('link', { name: 'slime, miles' }).click()
  await page.getByRole('heading', { name: 'slime, miles' }).waitFor()
  await page.getByRole('combobox', { name: 'Run' }).fill('my-run')
  const pasted = page.getByRole('region', { name: 'Train on a file, with rewards by URL: code' })
  await until(
    async () => pasted.textContent(),
    (text) => text?.includes(`http://trainer:API_KEY@${new URL(url).host}/slime/my-run/rm`) ?? false,
  )
  expect(await page.evaluate('document.body.innerText.includes("an-admin")')).toBe(false)
  await watched.shoot('trainer')
  expect(await watched.findings()).toEqual([])
  expect(watched.troubles).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
  await page.goto(`${url}/#/trainers/nobody`)
  await page.getByText('This server has no integration for a trainer of this name').waitFor()
  await watched.close()
})

/** Each route that a path of a description stands for, as Fastify writes it; none for other ports and for `…`. */
function expandPath(path: string): string[] {
  if (!path.startsWith('/') || path.includes('…')) return []
  const optional = /\[(.*?)\]/.exec(path)
  if (optional) return [path.replace(optional[0], ''), path.replace(optional[0], optional[1] ?? '')].flatMap(expandPath)
  const choice = /\{([^{}]*,[^{}]*)\}/.exec(path)
  if (choice) return (choice[1] ?? '').split(',').flatMap((one) => expandPath(path.replace(choice[0], one)))
  return [path.replaceAll(/\{(\w+)\}/g, ':$1')]
}
