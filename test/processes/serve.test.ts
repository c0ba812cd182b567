import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { BoundSocket, createServer } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { json as readJson } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildChildEnvironment } from '../../src/platform/installation.ts'
import { listProcesses } from '../../verification/support/processes.ts'
import { type ChildServer, getFreePort, startChildServer } from '../../verification/support/with-server.ts'
import { clientOf } from '../failures/server.ts'
import { type Reading, readMetrics } from '../features/operations/reading.ts'
import { HANGING, until } from '../world.ts'
import { expectBatchesGoOn, expectComplete, fillServer } from './kept-run.ts'
import { expectSamplingSurvives } from './sampling.ts'

const json = { 'content-type': 'application/json' }
/** Said once every process is up. */
const ALL_UP = 'reasoning-gym-server is at'

describe('the service in one command', () => {
  let server: ChildServer
  beforeAll(async () => {
    server = await startChildServer({ API_PROCESSES: '', JOB_LOCK_S: '15' }) // longer than a busy machine holds up a worker
  }, 300_000)
  afterAll(() => server.stop())

  const post = async (path: string, body: unknown, headers = {}) =>
    (
      await fetch(server.url + path, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) })
    ).json()
  const children = () => listProcesses().filter(({ ppid }) => ppid === server.pid)
  const pidsOf = (script: string) =>
    children()
      .filter(({ args }) => args.split(' ').some((word) => word.endsWith(script)))
      .map(({ pid }) => pid)

  it('has an HTTP process for each core; one joins only once it can answer', async () => {
    const statuses: number[] = []
    const ask = async () => {
      const headers = { ...json, connection: 'close' } // a new connection, for any of the processes
      const body = JSON.stringify({ task: 'gcd', seed: 1 })
      statuses.push((await fetch(`${server.url}/items`, { method: 'POST', headers, body })).status)
    }
    for (let end = Number.POSITIVE_INFINITY; statuses.length < end; await ask())
      if (end === Number.POSITIVE_INFINITY && server.output().includes(ALL_UP)) end = statuses.length + 50
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(pidsOf('api.ts')).toHaveLength(Math.min(16, availableParallelism()))
  })

  it('says where the server, its docs and its data are', async () => {
    const output = await until(
      () => Promise.resolve(server.output()),
      (text) => text.includes(ALL_UP), // the first process answered before
    )
    expect(output).toContain(`${server.url}/docs`)
    expect(output).toContain(server.dataDir)
  })

  it('scores a group of 16 through a worker in another process, and again after that worker is killed in the middle', async () => {
    const { items } = (await post('/items', { task: HANGING.task, seed: 1 })) as { items: { id: string }[] }
    const group = (tag: string) => ({
      run: 'killed',
      item_id: items[0]?.id,
      group_id: tag,
      rollouts: Array.from({ length: 16 }, (_, k) => ({ completion: `<answer>${tag}${k}</answer>` })),
    })
    await fetch(`${server.url}/runs/killed`, { method: 'PUT', headers: json, body: '{}' })
    const first = (await post('/rollouts', group('a'), { prefer: 'wait=30' })) as { status: string }
    expect(first.status).toBe('scored')

    // One answer hangs the scorer, so that the worker is in the middle when it is killed.
    const slow = group('b')
    slow.rollouts[3] = { completion: `<answer>${HANGING.answer}</answer>` }
    await post('/rollouts', slow)
    const before = pidsOf('worker.ts')
    expect(before).toHaveLength(1)
    for (const pid of before) process.kill(pid, 'SIGKILL')
    const look = async () =>
      (await fetch(`${server.url}/rollouts/b?run=killed`)).json() as Promise<{
        status: string
        verdicts: { status: string }[]
      }>
    const done = await until(look, ({ status }) => status !== 'queued', 90_000)
    expect(done.verdicts.filter(({ status }) => status === 'scored')).toHaveLength(15)
    const run = (await (await fetch(`${server.url}/runs/killed`)).json()) as { progress: object }
    expect(run.progress).toMatchObject({ groups: 2, scored_groups: 2, rollouts: 32, queued_groups: 0 })
    expect(pidsOf('worker.ts')).not.toEqual(before)
  }, 120_000)

  it('any process answers a scrape for all, and no counter falls when one of them is killed', async () => {
    const scrape = async () => readMetrics(await (await fetch(`${server.url}/metrics`)).text()).samples
    const valuesOf = (samples: Reading['samples'], metric: string) =>
      samples.filter(({ name }) => name === metric).map(({ value }) => value)
    const before = await until(
      scrape,
      (samples) => valuesOf(samples, 'rgs_process_up').length === children().length - 1,
    )
    expect(valuesOf(before, 'rgs_groups_total').length).toBeGreaterThan(0) // counted by the worker
    const nameWorkers = (samples: Reading['samples']) =>
      samples.flatMap(({ name, labels }) =>
        name === 'rgs_process_up' && labels.role === 'worker' ? labels.process : [],
      )
    const killed = nameWorkers(before)
    for (const pid of pidsOf('worker.ts')) process.kill(pid, 'SIGKILL')
    const after = await until(
      scrape,
      (samples) =>
        valuesOf(samples, 'rgs_process_up').length > 0 &&
        !nameWorkers(samples).some((process) => killed.includes(process)),
    )
    expect(valuesOf(after, 'rgs_groups_total')).toEqual(valuesOf(before, 'rgs_groups_total'))
    await until(scrape, (samples) => valuesOf(samples, 'rgs_workers')[0] === 1)
  })

  it('calls of a trainer wait while all processes are replaced, and while all API processes are killed', async () => {
    await until(
      async () => server.output(),
      (text) => text.includes(ALL_UP),
    )
    const trainers = startTrainers(server.url)
    const replaced = pidsOf('api.ts')
    process.kill(server.pid, 'SIGUSR2')
    await until(
      async () => pidsOf('api.ts').filter((pid) => !replaced.includes(pid)),
      ({ length }) => length === replaced.length,
    )
    expect(await trainers.stop()).toEqual(new Set([1]))

    const killed = pidsOf('api.ts')
    for (const pid of killed) process.kill(pid, 'SIGKILL')
    await until(
      async () => pidsOf('api.ts').filter((pid) => killed.includes(pid)),
      ({ length }) => length === 0,
    )
    expect(await Promise.all([1, 2, 3].map(() => rewardRightAnswer(server.url)))).toEqual([1, 1, 1])
  })

  it('an eval and a collection whose worker is killed twice go on, post no group twice, and ask again only for what was in flight', async () => {
    await expectSamplingSurvives(server.url, async () => {
      const workers = await until(
        async () => pidsOf('worker.ts'),
        ({ length }) => length === 1,
      )
      for (const pid of workers) process.kill(pid, 'SIGKILL')
    })
  }, 400_000)

  it('opens its data folder again with everything in it after a restart of every process', async () => {
    await fillServer(server.url)
    await expectComplete(server.url)
    const port = new URL(server.url).port
    process.kill(server.pid, 'SIGTERM')
    await until(
      async () =>
        fetch(`${server.url}/livez`).then(
          () => true,
          () => false,
        ),
      (up) => !up,
    )
    await until(
      async () => children().length,
      (count) => count === 0,
    )
    const again = await startChildServer({ PORT: port, DATA_DIR: server.dataDir, API_PROCESSES: '1' })
    try {
      await expectComplete(again.url)
      await expectBatchesGoOn(again.url)
    } finally {
      await again.stop()
    }
  }, 120_000)
})

describe('a small server on a socket that systemd holds', () => {
  const socket = new BoundSocket({ host: '127.0.0.1' })
  const start = () => startChildServer({ SMALL: 'true', API_PROCESSES: '', WORKERS: '2' }, { socket })
  let server: ChildServer
  beforeAll(async () => {
    server = await start()
  })
  afterAll(async () => {
    await server.stop()
    socket.close()
  })

  it('scores groups in the process that answers', async () => {
    const client = clientOf(server.url)
    expect((await client.post('small', 'a', 'wait=30')).body).toMatchObject({ status: 'scored' })
    const { processes } = (await client.call('GET', '/overview')).body
    expect(processes).toMatchObject([{ role: 'api' }])
  })

  it('is replaced: calls of a trainer wait, and none fails', async () => {
    const trainers = startTrainers(server.url)
    expect(await server.stop()).toBe(0)
    server = await start()
    expect(await trainers.stop()).toEqual(new Set([1]))
  })
})

it('a server that npm started ends when npm is killed', async () => {
  const port = await getFreePort()
  const folder = mkdtempSync(join(tmpdir(), 'rgs-npm-'))
  const env = { PORT: String(port), DATA_DIR: folder, API_PROCESSES: '1', WORKERS: '0', PYTHON_WORKERS: '1' }
  const npm = spawn('npm', ['start'], { env: buildChildEnvironment(env), stdio: 'ignore', detached: true })
  try {
    const isUp = () =>
      fetch(`http://127.0.0.1:${port}/livez`).then(
        () => true,
        () => false,
      )
    await until(isUp, (up) => up, 60_000)
    npm.kill('SIGKILL')
    await until(isUp, (up) => !up, 20_000)
    await until(
      async () => existsSync(join(folder, 'server.pid')),
      (holds) => !holds,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
  }
})

/** Two callers that post one answer after the other. `stop` returns the rewards that they got, or throws the failure of a call. */
function startTrainers(url: string): { stop(): Promise<Set<number>> } {
  const rewards = new Set<number>()
  let isStopped = false
  const train = async () => {
    do rewards.add(await rewardRightAnswer(url))
    while (!isStopped)
  }
  const trainers = Promise.allSettled([train(), train()])
  const stop = async () => {
    isStopped = true
    for (const ended of await trainers) if (ended.status === 'rejected') throw ended.reason
    return rewards
  }
  return { stop }
}

/** The request of OpenRLHF, which tries five times within five seconds. This tries once, as miles does, on a new connection. */
async function rewardRightAnswer(url: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request(`${url}/openrlhf/get_reward`, { method: 'POST', headers: json, agent: false }, resolve)
    .on('error', reject)
    .end(
      JSON.stringify({
        query: ['<answer>100</answer>'],
        prompts: [''],
        labels: ['leg_counting.42.0.WyIwLjEuMjUiLG51bGwse31d'],
      }),
    )
  const { rewards } = (await readJson(await promise)) as { rewards: number[] }
  return rewards[0] ?? Number.NaN
}

describe('a missing piece is one clear line', () => {
  const fails = (env: Record<string, string>) =>
    startChildServer(env).then(
      async (server) => {
        await server.stop()
        return 'it started'
      },
      (error: Error) => error.message,
    )

  it('a port that is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const address = other.address()
    const port = String(typeof address === 'object' ? address?.port : '')
    expect(await fails({ PORT: port })).toContain(`Port ${port} is taken`)
    other.close()
  })

  it('a setting that cannot be read', async () => {
    expect(await fails({ SCORE_DEADLINE_MS: 'soon' })).toMatch(
      /Invalid environment variables: SCORE_DEADLINE_MS: "soon" is not a number/,
    )
  })

  it('an address that others can reach, and no keys', async () => {
    expect(await fails({ HOST: '0.0.0.0' })).toContain('no keys are configured: set API_KEYS=admin:KEY')
    expect(await fails({ HOST: '0.0.0.0', API_KEYS: 'secret-word' })).toContain('API_KEYS, key 1: must be ROLE:KEY')
  })
})
