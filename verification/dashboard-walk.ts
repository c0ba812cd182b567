/**
 * Walks the pages of the dashboard in Chromium, in light and dark and at three widths: on an empty server, with live, finished and
 * failing runs and evals, and without Redis. It writes screenshots to artifacts/dashboard-walk, and fails on console errors, findings
 * of axe, pages that are wider than the window, and columns with a score that are out of sight.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import { resolveRedisBinary } from '../src/main/bootstrap/redis/redis-process.ts'
import { openBrowser, openPage } from '../test/dashboard/browser.ts'
import { trainOnRun } from '../test/dashboard/training.ts'
import { requireBody } from './support/http.ts'
import { LoopbackRedis } from './support/loopback-redis.ts'
import { waitUntil } from './support/wait.ts'
import { getFreePort, startChildServer } from './support/with-server.ts'

const FOLDER = join(import.meta.dirname, '..', 'artifacts', 'dashboard-walk')
const NOBODY_LISTENS = 'http://127.0.0.1:9/v1'
/** Time in which a page has to settle: charts drawn, first data of its streams shown. */
const SETTLE_MS = 1200
/** The size of touch targets. */
const AXE_RULES = { 'target-size': { enabled: true } }

/** Runs in the page. A column that carries a score must neither be cut by the edge of its container nor be dropped. */
const FIND_CUTS = `(() => {
  const SCORE = /^(mean |last )?(score|reward|accuracy|result|difference)\\b/i
  const over = document.documentElement.scrollWidth - innerWidth
  const cut = over > 0 ? ['the page is ' + over + ' px wider than the window'] : []
  for (const table of document.querySelectorAll('main table')) {
    if (table.closest('.unseen') || table.getClientRects().length === 0) continue
    const box = (table.closest('.table') ?? table.parentElement).getBoundingClientRect()
    for (const cell of table.querySelectorAll('thead th')) {
      const name = cell.textContent.trim()
      if (!SCORE.test(name)) continue
      const { left, right, width } = cell.getBoundingClientRect()
      if (width === 0) cut.push('the column “' + name + '” is dropped')
      else if (right > Math.min(box.right, innerWidth) + 1 || left < box.left - 1) cut.push('the column “' + name + '” is cut')
    }
  }
  return cut
})()`

/** Names of screenshots, and places below the server's URL. */
type Stops = Record<string, string>

const EMPTY_STOPS: Stops = {
  overview: '',
  tasks: '#/tasks',
  task: '#/tasks/sudoku',
  runs: '#/runs',
  evals: '#/evals',
  lost: '#/nowhere',
  swagger: 'docs/',
}
const REDIS_AWAY_STOPS: Stops = { overview: '', runs: '#/runs', run: '#/runs/training', evals: '#/evals' }

const { values } = parseArgs({
  options: {
    widths: { type: 'string', default: '1440,820,390' },
    schemes: { type: 'string', default: 'light,dark' },
    only: { type: 'string', default: '' },
    steps: { type: 'string', default: '12' },
  },
})
mkdirSync(FOLDER, { recursive: true })
const problems: string[] = []
const browser = await openBrowser()
try {
  await walkStates()
} finally {
  await browser.close()
}
writeFileSync(join(FOLDER, 'problems.txt'), problems.map((line) => `${line}\n`).join(''))
for (const line of problems) console.log(line)
console.log(`${problems.length} problems; screenshots in ${FOLDER}`)
process.exitCode = problems.length > 0 ? 1 : 0

async function walkStates(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-walk-'))
  const redis = new LoopbackRedis(await resolveRedisBinary(console.log), folder, await getFreePort(), {})
  const server = await startChildServer({
    REDIS_URL: `redis://127.0.0.1:${redis.port}`,
    MODEL_HOSTS: '127.0.0.1',
    LOG_LEVEL: 'warn',
  })
  const { url } = server
  const model = await startMockModel({ server: { url }, seed: 1, accuracy: 0.7, accuracyAtHardest: 0.4 })
  try {
    await walk(url, 'empty', EMPTY_STOPS)
    await walk(url, 'full', await fill(url, model.url))
    await redis.kill()
    await walk(url, 'redis-away', REDIS_AWAY_STOPS, /50[034]/) // what the pages ask for is answered with a problem
  } finally {
    await model.close()
    await server.stop()
    await redis.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs and evals in the states that a user meets, and their pages. */
async function fill(url: string, modelUrl: string): Promise<Stops> {
  const post = (path: string, body: object) => requireBody('POST', url + path, { body, headers: { prefer: 'wait=30' } })
  const steps = Number(values.steps)
  await trainOnRun(url, { run: 'training', steps })
  await trainOnRun(url, { run: 'training-b', steps: Math.ceil(steps / 2) })
  await requireBody('PUT', `${url}/runs/every-task`, { body: { tasks: 'all', group_size: 4 } })
  const { items } = await post('/items', { run: 'every-task', count: 105 })
  const rollouts = ['True', '2', '0', '1'].map((answer) => ({ completion: `<answer>${answer}</answer>` }))
  for (const { id } of items) await post('/rollouts', { run: 'every-task', item_id: id, rollouts })
  const suite = { tasks: ['gcd', 'sudoku', 'leg_counting', 'word_sorting', 'spell_backward'], n: 8 }
  const evaluate = async (name: string, base_url: string, step: number): Promise<string> =>
    (await post('/eval', { model: { name, base_url }, suite, run: 'training', step })).id
  const a = await evaluate('qwen-7b-step-10', modelUrl, 10)
  const b = await evaluate('qwen-7b-step-40', modelUrl, 40)
  const failed = await evaluate('unreachable', NOBODY_LISTENS, 41)
  for (const path of [`/eval/${a}`, `/eval/${b}`, `/eval/${failed}`])
    await waitUntil(path, async () => !/queued|running/.test((await requireBody('GET', url + path)).status), {
      timeoutMs: 120_000,
    })
  const { groups } = await requireBody('GET', `${url}/runs/training/groups?limit=1`)
  return {
    overview: '',
    runs: '#/runs',
    run: '#/runs/training',
    'run-groups': '#/runs/training/groups',
    'run-group': `#/runs/training/groups/${groups[0]?.group_id}`,
    'run-settings': '#/runs/training/settings',
    'run-every-task': '#/runs/every-task',
    'compare-runs': '#/compare?runs=training,training-b',
    evals: '#/evals',
    eval: `#/evals/${b}`,
    'eval-samples': `#/evals/${b}/samples`,
    'eval-sample': `#/evals/${b}/samples/s0`,
    'eval-failed': `#/evals/${failed}`,
    'compare-evals': `#/evals/compare?a=${a}&b=${b}`,
  }
}

/** Visits every stop in every scheme and width. `expected`: errors on the console that the state provokes. */
async function walk(url: string, state: string, stops: Stops, expected?: RegExp): Promise<void> {
  for (const scheme of values.schemes.split(',') as ('light' | 'dark')[]) // as --help says
    for (const width of values.widths.split(',').map(Number))
      for (const [stop, place] of Object.entries(stops)) {
        const name = `${state}-${stop}`
        const found = name.includes(values.only)
          ? await visit(`${url}/${place}`, name, { scheme, width }, expected)
          : []
        problems.push(...found.map((what) => `${name} ${width}-${scheme}: ${what}`))
      }
}

async function visit(
  address: string,
  name: string,
  shape: { width: number; scheme: 'light' | 'dark' },
  expected?: RegExp,
): Promise<string[]> {
  const opened = await openPage(browser, new URL(address).origin, shape, expected)
  const { page, troubles } = opened
  try {
    await page.goto(address)
    await sleep(SETTLE_MS)
    const path = join(FOLDER, `${name}-${shape.width}-${shape.scheme}.png`)
    await page.screenshot({ path, fullPage: true, animations: 'disabled' })
    return [...troubles, ...(await page.evaluate<string[]>(FIND_CUTS)), ...(await opened.findings(AXE_RULES))]
  } catch (error) {
    return [...troubles, String(error).split('\n')[0] ?? '']
  } finally {
    await opened.close()
  }
}
