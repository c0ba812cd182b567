/**
 * Walks every page of the dashboard in Chromium, in light and dark and at three widths, on an
 * empty server, with live, finished and failing runs and evals, without Redis, and with a key of each role. It writes screenshots
 * to artifacts/dashboard-walk, and fails on console errors, findings of axe, pages that are wider than the window, and columns
 * with a score that are out of sight.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { resolveRedisBinary } from '../src/main/bootstrap/redis/redis-process.ts'
import { trainOnRun } from '../test/dashboard/training.ts'
import { call, makeEvals, postWithoutSteps, trainOnEveryTask } from './dashboard-walk/scenes.ts'
import { type Stop, Walker } from './dashboard-walk/walker.ts'
import { LoopbackRedis } from './support/loopback-redis.ts'
import { getFreePort, startChildServer } from './support/with-server.ts'

const FOLDER = join(import.meta.dirname, '..', 'artifacts', 'dashboard-walk')
const ROLES = ['reader', 'trainer', 'evaluator', 'admin'] as const

const { values } = parseArgs({
  options: {
    widths: { type: 'string', default: '1440,820,390' },
    schemes: { type: 'string', default: 'light,dark' },
    only: { type: 'string', default: '' },
    steps: { type: 'string', default: '12' },
  },
})

const walker = await Walker.open({
  folder: FOLDER,
  widths: values.widths.split(',').map(Number),
  schemes: values.schemes.split(',').filter((scheme) => scheme === 'light' || scheme === 'dark'),
  only: values.only,
})
try {
  await walkStates()
  await walkRoles()
} finally {
  await walker.close()
}
writeFileSync(join(FOLDER, 'problems.txt'), walker.problems.map((line) => `${line}\n`).join(''))
console.log(`${walker.pictures} screenshots in ${FOLDER}, ${walker.problems.length} problems`)
for (const line of walker.problems) console.log(`  ${line}`)
if (walker.problems.length > 0) process.exitCode = 1

/** Empty, live, finished, failing, and without Redis. */
async function walkStates(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-walk-'))
  const redis = new LoopbackRedis(await resolveRedisBinary(console.log), folder, await getFreePort(), {})
  const server = await startChildServer({ REDIS_URL: `redis://127.0.0.1:${redis.port}`, LOG_LEVEL: 'warn' })
  const { url } = server
  try {
    await walker.walk(url, listEmptyStops())
    const steps = Number(values.steps)
    await trainOnRun(url, { run: 'training', steps })
    await trainOnRun(url, { run: 'training-b', steps: Math.ceil(steps / 2) })
    await postWithoutSteps(url, 'no-steps')
    await trainOnEveryTask(url, 'every-task', Math.max(2, Math.round(steps / 3)))
    const evals = await makeEvals(url, 'training')
    try {
      const { groups } = await call('GET', `${url}/runs/training/groups?limit=1`)
      await walker.walk(url, listFullStops(evals, String(groups[0]?.group ?? groups[0]?.id)))
    } finally {
      await evals.close()
    }
    await redis.kill()
    await walker.walk(url, listRedisAwayStops())
  } finally {
    await server.stop()
    await redis.kill()
    await redis.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function listEmptyStops(): Stop[] {
  return [
    { name: 'empty-overview', address: '', text: 'Ready' },
    { name: 'empty-tasks', address: '#/tasks', text: '105 of 105' },
    { name: 'empty-task', address: '#/tasks/sudoku', text: 'Task card' },
    ...['runs', 'evals', 'trainers'].map((page) => ({ name: `empty-${page}`, address: `#/${page}` })),
    { name: 'empty-trainer', address: '#/trainers/trl' },
    { name: 'empty-lost', address: '#/nowhere', text: 'There is no page' },
    { name: 'empty-unknown-run', address: '#/runs/nobody', expectedErrors: /404/ },
    { name: 'empty-swagger', address: 'docs/', text: 'Authorize' },
  ]
}

function listFullStops({ done, failed, running, duel }: Awaited<ReturnType<typeof makeEvals>>, group: string): Stop[] {
  const [a = '', b = ''] = done
  return [
    { name: 'live-overview', address: '' },
    { name: 'live-eval', address: `#/evals/${running}` },
    { name: 'finished-runs', address: '#/runs', text: 'every-task' },
    { name: 'finished-run', address: '#/runs/training' },
    { name: 'finished-run-groups', address: '#/runs/training/groups' },
    { name: 'finished-run-group', address: `#/runs/training/groups/${group}` },
    { name: 'finished-run-settings', address: '#/runs/training/settings' },
    { name: 'finished-run-no-steps', address: '#/runs/no-steps' },
    { name: 'finished-run-every-task', address: '#/runs/every-task' },
    { name: 'finished-compare-runs', address: '#/compare?runs=training,training-b' },
    { name: 'finished-evals', address: '#/evals', text: 'qwen-7b-step-40' },
    { name: 'finished-eval', address: `#/evals/${b}` },
    { name: 'finished-eval-samples', address: `#/evals/${b}/samples` },
    { name: 'finished-eval-sample', address: `#/evals/${b}/samples/s0` },
    { name: 'finished-compare', address: `#/evals/compare?a=${a}&b=${b}` },
    { name: 'finished-duel', address: `#/evals/${duel}` },
    { name: 'failing-eval', address: `#/evals/${failed}` },
    { name: 'failing-eval-samples', address: `#/evals/${failed}/samples` },
  ]
}

function listRedisAwayStops(): Stop[] {
  const pages = { overview: '', runs: '#/runs', run: '#/runs/training', evals: '#/evals' }
  return Object.entries(pages).map(([name, address]) => ({
    name: `redis-away-${name}`,
    address,
    expectedErrors: /50[034]/, // what the pages ask for is answered with a problem
  }))
}

/** What callers with keys of each role see, without a key, and with one that is bound to a run. */
async function walkRoles(): Promise<void> {
  const keys = [...ROLES.map((role) => `${role}:the-key-of-the-${role}`), 'trainer@mine:a-key-bound-to-mine']
  const server = await startChildServer({ API_KEYS: keys.join(','), LOG_LEVEL: 'warn' })
  try {
    const admin = 'the-key-of-the-admin'
    for (const run of ['mine', 'other'])
      await call('PUT', `${server.url}/runs/${run}`, { tasks: ['gcd'], group_size: 4 }, admin)
    await walker.walk(server.url, listRoleStops('nobody'))
    for (const role of ROLES) await walker.walk(server.url, listRoleStops(role), `the-key-of-the-${role}`)
    await walker.walk(server.url, listRoleStops('bound'), 'a-key-bound-to-mine')
  } finally {
    await server.stop()
  }
}

function listRoleStops(role: string): Stop[] {
  const expectedErrors = { nobody: /401/, bound: /403/ }[role] // a bound key must name its run
  const expected = expectedErrors ? { expectedErrors } : {}
  return [
    { name: `role-${role}-overview`, address: '', ...expected },
    { name: `role-${role}-run`, address: '#/runs/mine', ...expected },
    { name: `role-${role}-evals`, address: '#/evals', ...expected },
    { name: `role-${role}-task`, address: '#/tasks/gcd', ...expected },
  ]
}
