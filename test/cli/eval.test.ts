import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drawOutcome, MockModelBehavior } from '@reasoning-gym-server/mock-model/behavior'
import { type MockModel, startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getFreePort } from '../../verification/support/with-server.ts'
import { openWorld, until, type World } from '../world.ts'
import { MACHINES_NODE, run, start, versionOf } from './command-line.ts'

/** Luck is known in advance: samples are named by their seed. */
const LUCK = { accuracy: 0.6, formatFaults: 0.1, seed: 4 }
const TASKS = ['gcd', 'lcm', 'count_bits']

let world: World
let url: string
let folder: string
let good: MockModel
let faulty: MockModel
let slow: MockModel
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rgs-cli-'))
  world = await openWorld({ worker: true })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  const here = { server: { url } }
  good = await startMockModel({ ...here, ...LUCK })
  faulty = await startMockModel({
    ...here,
    ...LUCK,
    rateLimits: 0.1,
    retryAfterS: 0,
    serverErrors: 0.1,
    closedConnections: 0.1,
  })
  slow = await startMockModel({ ...here, ...LUCK, latencyMs: 1000 }) // what is canceled is far from done
})
afterAll(async () => {
  await Promise.all([good.close(), faulty.close(), slow.close()])
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

const env = () => ({ REASONING_GYM_URL: url })
const asking = (model: MockModel, ...more: string[]) => [
  'eval',
  '--model',
  'mock',
  '--base-url',
  model.url,
  '--sample-seed',
  '0',
  ...more,
]
const measure = async (model: MockModel, ...more: string[]) => {
  const args = asking(model, ...TASKS.flatMap((task) => ['--task', task]), '--items', '6', ...more)
  const ended = await run(args, { env: env() })
  return { ...ended, answer: more.includes('--json') ? JSON.parse(ended.stdout) : undefined }
}

/** What the mock model will have scored on these items: wrong answers to these tasks earn nothing. */
async function expectedMean(items: { id: string; task: string }[], samples: number): Promise<number> {
  const behaviour = MockModelBehavior.parse(LUCK)
  const outcomes = items.flatMap(({ id, task }) =>
    Array.from({ length: samples }, (_, k) =>
      drawOutcome(behaviour, { id, task, difficulty: null, answer: '', metadata: {} }, k),
    ),
  )
  return outcomes.filter(({ kind }) => kind === 'right').length / outcomes.length
}

async function itemsOf(id: string): Promise<{ id: string; task: string }[]> {
  const text = await (await fetch(`${url}/eval/${id}/samples`)).text()
  const samples = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { item_id: string; task: string })
  return [...new Map(samples.map(({ item_id, task }) => [item_id, { id: item_id, task }])).values()]
}

describe('eval', () => {
  it('comes to the scores that are known in advance, whatever goes wrong on the way', async () => {
    const { answer, code } = await measure(good, '--samples', '2', '--json')
    const bad = await measure(faulty, '--samples', '2', '--json')
    expect([code, bad.code]).toEqual([0, 0])
    const mean = await expectedMean(await itemsOf(answer.id), 2)
    expect(answer.result.mean_score).toBeCloseTo(mean, 10)
    expect(bad.answer.result.mean_score).toBeCloseTo(mean, 10)
    expect(faulty.counts.rate_limited + faulty.counts.server_error + faulty.counts.closed).toBeGreaterThan(0)
  })

  it('shows how far it is, and the report at the end', async () => {
    const { code, stdout, stderr } = await measure(good, '--tries', '2', '--feedback', 'rule')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^\*\*\d\.\d{3} \[.*\]\*\* mean score with its 95% interval, accuracy/m)
    expect(stdout).toMatch(/^18 samples of \d+ items: 0 unscored, /m)
    expect(stdout).toMatch(/^Accuracy of the first tries .*% of \d+ wrong first tries right, 95% interval/m)
    expect(stdout).toMatch(/^\| gcd \| \d\.\d{3} .* \| 6 \|$/m)
    expect(stderr).toMatch(/18\/18 samples \| .*mean score 0\.\d{3} \| 0 failed/)
  })

  it('ends with 1 when the mean score is below what was asked, and says so', async () => {
    expect((await measure(good, '--min-score', '0.2')).code).toBe(0)
    expect(await measure(good, '--min-score', '0.99')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('below 0.99'),
    })
  })

  it('finds the frontier of a model', async () => {
    const ended = await run(asking(good, '--suite', 'frontier', '--task', 'gcd', '--items', '8'), { env: env() })
    expect(ended.code).toBe(0)
    expect(ended.stdout).toMatch(
      /^\*\*0\.\d{3} \[0\.\d{3}, \d\.\d{3}\] over 1 tasks\*\* is the difficulty at which the model solves half of the items/m,
    )
  })

  it('lists what was measured, shows it again, and compares two', async () => {
    const first = (await measure(good, '--json', '--label', 'compared')).answer.id
    const second = (await measure(good, '--json', '--label', 'compared')).answer.id
    const list = await run(['eval', 'list', '--label', 'compared'], { env: env() })
    expect(list.stdout).toContain(first)
    expect(list.stdout).toContain(second)
    expect((await run(['eval', 'report', first], { env: env() })).stdout).toMatch(/^18 samples of /m)
    const same = await run(['eval', 'compare', first, second], { env: env() })
    expect(same).toMatchObject({ code: 0, stdout: expect.stringMatching(/^all +18 +0\.000 /m) })
    expect(same.stdout).toContain('only one of them answers correctly: 0 a, 0 b')
    expect(same.stdout).toContain(`/#/evals/compare?a=${first}&b=${second}`)
    const report = await run(['eval', 'report', first, '--format', 'samples'], { env: env() })
    expect(report.stdout.trim().split('\n')).toHaveLength(18)
    const forHub = ['eval', 'report', first, '--format', 'eval-results', '--dataset', 'my-org/bench']
    expect((await run(forHub, { env: env() })).stdout).toContain('id: "my-org/bench"')
  })

  it('Ctrl-C cancels it; resumed it asks for no sample twice but for those in flight, and comes to the same score', async () => {
    const args = asking(slow, '--task', 'gcd', '--items', '30', '--concurrency', '2')
    const cancelled = start(args, { env: env() })
    await until(
      async () => slow.counts.right,
      (count) => count > 3,
      60_000,
    )
    cancelled.process.kill('SIGINT')
    const { code, stderr } = await cancelled.ended
    expect(code).toBe(130)
    const [, kept] = /Cancelled\. The server keeps (\d+) of 30 samples/.exec(stderr) ?? []
    const id = /eval --resume (eval-\w+)/.exec(stderr)?.[1] ?? ''
    expect(Number(kept)).toBeGreaterThan(3)
    const resumed = await run(['eval', '--resume', id, '--json'], { env: env() })
    expect(resumed.code).toBe(0)
    expect(slow.counts.requests).toBeLessThanOrEqual(30 + 2)
    const { result, progress } = JSON.parse(resumed.stdout)
    expect({ ...progress, failures: result.failures }).toMatchObject({ done: 30, total: 30, failed: 0, failures: [] })
    expect(result.mean_score).toBeCloseTo(await expectedMean(await itemsOf(id), 1), 10)
  })

  it('says what is missing', async () => {
    const cases: [string[], number, RegExp][] = [
      [['eval', '--suite', 'smoke'], 2, /--model/],
      [asking(good, '--suite', 'nope'), 1, /\[unknown_suite\]/],
      [asking(good, '--suite', 'smoke', '--task', 'gcd'), 2, /either --suite or --task/],
      [['eval', 'report', 'eval-0123456789abcdef'], 1, /\[unknown_eval\]/],
    ]
    for (const [args, code, message] of cases) {
      const ended = await run(args, { env: env() })
      expect([args, ended.code, ended.stdout]).toEqual([args, code, ''])
      expect(ended.stderr).toMatch(message)
    }
  })
})

describe('where no server runs', () => {
  it(`eval starts one, and what Ctrl-C left is there to be resumed, by Node ${versionOf(MACHINES_NODE)} too`, async () => {
    const away = { REASONING_GYM_URL: '', PORT: String(await getFreePort()), DATA_DIR: join(folder, 'own') }
    const args = (concurrency: string) => asking(slow, '--task', 'lcm', '--items', '24', '--concurrency', concurrency)
    await run(args('24'), { env: env() }) // the model knows the items of the other server
    const before = slow.counts.right
    const cancelled = start(args('2'), { env: away })
    await expect.poll(() => slow.counts.right, { interval: 20, timeout: 120_000 }).toBeGreaterThan(before + 2)
    cancelled.process.kill('SIGINT')
    const { code, stderr } = await cancelled.ended
    expect([code, stderr]).toEqual([130, expect.stringContaining('of 24 samples')])
    expect(stderr).toContain('Starting a temporary one')
    const id = /eval --resume (eval-\w+)/.exec(stderr)?.[1] ?? ''
    const resume = ['eval', '--resume', id, '--json', '--base-url', slow.url]
    const resumed = await start(resume, { env: away, node: MACHINES_NODE }).ended // the machine's own, which hands over
    expect([resumed.code, JSON.parse(resumed.stdout).progress.done]).toEqual([0, 24])
  }, 300_000)
})

describe('collect', () => {
  it('gathers groups of a run and makes a data set of them', async () => {
    await run(['runs', 'set', 'traces', 'tasks=["gcd"]', 'group_size=4', 'dump_rollouts=all', 'buffer=false'], {
      env: env(),
    })
    const model = ['--model', 'mock', '--base-url', good.url]
    const gathered = await run(['collect', '--run', 'traces', '--groups', '5', ...model], { env: env() })
    expect(gathered).toMatchObject({ code: 0, stderr: expect.stringMatching(/20\/20 samples/) })
    expect(gathered.stdout).toMatch(/^groups +5$/m)
    expect(JSON.parse((await run(['runs', 'show', 'traces', '--json'], { env: env() })).stdout).progress.groups).toBe(5)
    const exported = await run(['export', 'traces', '--min-reward', '1'], { env: env() })
    expect(exported.code).toBe(0)
    const lines = exported.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.every((line) => JSON.stringify(line).includes('<answer>'))).toBe(true)
  })

  it('Ctrl-C cancels it; resumed it comes to the groups that were wanted, none twice', async () => {
    await run(['runs', 'set', 'broken-off', 'tasks=["gcd"]', 'group_size=2', 'buffer=false'], { env: env() })
    const args = ['collect', '--run', 'broken-off', '--groups', '16', '--concurrency', '2']
    const before = slow.counts.requests
    const cancelled = start([...args, '--model', 'mock', '--base-url', slow.url], { env: env() })
    await until(
      async () => slow.counts.requests,
      (count) => count > before + 6,
      60_000,
    )
    cancelled.process.kill('SIGINT')
    const { code, stderr } = await cancelled.ended
    expect(code).toBe(130)
    const id = /--resume (collect-\w+)/.exec(stderr)?.[1] ?? ''
    const resumed = await run(['collect', '--run', 'broken-off', '--resume', id, '--json'], { env: env() })
    expect(resumed.code).toBe(0)
    expect(JSON.parse(resumed.stdout).result).toMatchObject({ groups: 16, failed: 0 })
    expect(
      JSON.parse((await run(['runs', 'show', 'broken-off', '--json'], { env: env() })).stdout).progress.groups,
    ).toBe(16)
  })

  it('says what is missing', async () => {
    const cases: [string[], number, RegExp][] = [
      [['collect', '--groups', '1'], 2, /--run/],
      [['collect', '--run', 'x', '--model', 'm', '--base-url', 'http://127.0.0.1:9/v1'], 2, /--groups/],
      [['collect', '--run', 'x', '--groups', '1'], 2, /--model/],
      [['export', 'no-such-run'], 1, /\[unknown_run\]/],
    ]
    for (const [args, code, message] of cases) {
      const ended = await run(args, { env: env() })
      expect([args, ended.code, ended.stdout]).toEqual([args, code, ''])
      expect(ended.stderr).toMatch(message)
    }
  })
})
