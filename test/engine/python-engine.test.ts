import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { type GeneratedItem, unwrapOutcome } from '../../src/engine/engine.ts'
import { createPythonEnv, forkCommand } from '../../src/engine/library-process.ts'
import { PythonEngine, type PythonEngineOptions } from '../../src/engine/python-engine.ts'
import { listProcesses } from '../../verification/support/processes.ts'
import { until } from '../world.ts'
import { engineContract } from './contract.ts'

/** Without `librarySocket` the zygote is a child of this process, which imports the library itself. */
async function open(options: Partial<PythonEngineOptions> = {}): Promise<PythonEngine> {
  const engine = new PythonEngine({
    pythonPath: inject('python'),
    workersPerPool: 2,
    scoreDeadlineMs: 10_000,
    makeDeadlineMs: 30_000,
    ...options,
  })
  await engine.waitUntilStarted()
  return engine
}

const LAYERS = ['environment', 'folder', 'landlock', 'limits', 'network', 'no_new_privileges', 'seccomp', 'user']

/** Children of this process's zygotes; `state` R: those that use the processor. */
function hostPids(state = ''): number[] {
  const zygotes = listProcesses().filter(({ args }) => args.includes('zygote.py'))
  const own = new Set(zygotes.flatMap(({ pid, ppid }) => (ppid === process.pid ? [pid] : [])))
  return zygotes.flatMap((one) => (own.has(one.ppid) && one.state.startsWith(state) ? [one.pid] : []))
}

engineContract('the Python engine', {
  open,
  openOther: (options) => open({ librarySocket: inject('librarySocket'), ...options }),
  hanging: { task: 'rush_hour', answer: 'A+1000000000000' },
  hungry: { task: 'count_primes', config: { max_n: 10_000_000_000 } },
  async crash(engine, work) {
    // A host that is being started runs, too.
    await until(
      async () => [engine.pythonWorkers(), hostPids('R')] as const,
      ([{ items, score }, running]) => items.alive === 1 && score.alive === 1 && running.length === 0,
    )
    const working = work()
    const [pid] = await until(
      async () => hostPids('R'),
      (pids) => pids.length > 0,
    )
    if (pid) process.kill(pid, 'SIGKILL')
    return working
  },
})

describe('its processes', () => {
  const told: string[] = []
  let engine: PythonEngine
  beforeAll(async () => {
    engine = await open({ onSandboxLayers: (kind) => told.push(kind) })
  })
  afterAll(() => engine.close())

  const allAlive = () =>
    until(
      async () => engine.pythonWorkers(),
      ({ items, score }) => items.alive === 1 && score.alive === 1,
    )
  /** Without those of the worlds of this process. */
  const zygotes = () =>
    listProcesses().filter(({ ppid, args }) => ppid === process.pid && /^\S+ -s -B \S*zygote\.py/.test(args))

  it('it comes back by itself when it is killed, and says meanwhile that it is down', async () => {
    for (const { pid } of zygotes()) process.kill(pid, 'SIGKILL')
    await until(
      async () => engine.health().ok,
      (ok) => !ok,
    )
    await expect(engine.canonicalizeConfig('chain_sum', { min_terms: 3 })).rejects.toMatchObject({
      code: 'engine_unavailable',
    })
    await until(
      async () => engine.health().ok,
      (ok) => ok,
    )
    expect(await engine.canonicalizeConfig('chain_sum', { min_terms: 3 })).toEqual({ min_terms: 3 })
  })

  it('one host of a kind stays when there is nothing to do; the second comes when a batch waits', async () => {
    await allAlive()
    const makeTogether = () => Promise.all([1, 2, 3].map((seed) => engine.generateItems('chain_sum', {}, [[seed, 0]])))
    await makeTogether()
    await until(
      async () => engine.pythonWorkers().items.alive,
      (alive) => alive >= 2, // more on a busy machine, where a worker takes long for its batch
    )
    await makeTogether() // so that both become idle at the same time
    await sleep(4_800)
    const before = hostPids()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400) // both have been idle for 5 s when the event loop goes on
    await allAlive()
    expect(before).toEqual(expect.arrayContaining(hostPids()))
  })

  it('a host that ends as it begins is made up for, and nobody waits for it', async () => {
    await allAlive()
    const folder = dirname(zygotes().at(-1)?.args.split(' ').at(-1) ?? '')
    const make = async (seed: number) => (await engine.generateItems('chain_sum', {}, [[seed, 0]]))[0]
    expect(await make(1)).toMatchObject({ kind: 'value' })
    renameSync(folder, `${folder}-away`) // where hosts connect
    for (const pid of hostPids()) process.kill(pid, 'SIGKILL')
    await until(
      async () => engine.pythonWorkers().items.alive,
      (alive) => alive === 0,
    )
    expect(await make(2)).toMatchObject({ kind: 'lost', reason: 'unavailable' })
    renameSync(`${folder}-away`, folder)
    await allAlive()
    expect(await make(2)).toMatchObject({ kind: 'value' })
  })

  it('hosts are behind walls, and the engine says which', async () => {
    await allAlive()
    expect(told.toSorted()).toEqual(['items', 'score'])
    const layers = engine.sandboxLayers()
    expect(Object.keys(layers).toSorted()).toEqual(LAYERS)
    const hosts = await until(
      async () => hostPids(),
      (pids) => pids.length === 2, // on a busy machine, one that took long to begin may have been replaced
    )
    for (const pid of hosts) {
      const field = (name: string) => {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8')
        return new RegExp(`^${name}:\\s+(\\w+)`, 'm').exec(status)?.[1]
      }
      // What a host says of itself is what the kernel says of it.
      await expect.poll(() => field('Seccomp')).toBe(layers.seccomp === null ? '2' : '0')
      expect(field('NoNewPrivs')).toBe(layers.no_new_privileges === null ? '1' : '0')
      if (layers.user === null) expect(field('Uid')).not.toBe('0')
    }
  })
})

it('forks its zygote from the process that has imported the library; without that process, imports it itself', async () => {
  /** PIDs of this process's commands that wait for a forked zygote. */
  const listForks = () =>
    listProcesses()
      .filter(({ ppid, args }) => ppid === process.pid && args.includes('library_process.py fork'))
      .map(({ pid }) => pid)
  for (const [librarySocket, forks] of [
    [inject('librarySocket'), 1],
    ['/nowhere/library.sock', 0],
  ] as const) {
    const before = new Set(listForks())
    const engine = await open({ librarySocket, workersPerPool: 1 })
    expect(engine.health().ok).toBe(true)
    expect(listForks().filter((pid) => !before.has(pid))).toHaveLength(forks)
    await engine.close()
  }
})

it('a forked zygote says why it ends', async () => {
  const script = join(import.meta.dirname, '../../src/engine/python/zygote.py')
  const args = [...forkCommand(inject('librarySocket'), inject('python')), script, '/nowhere/workers.sock']
  const zygote = spawn(inject('python'), args, {
    env: createPythonEnv(1),
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  expect(await text(zygote.stderr as Readable)).toContain("No such file or directory: '/nowhere'")
})

it('a zygote whose server was killed removes the folder of both', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-engine-'))
  const script = join(import.meta.dirname, '../../src/engine/python/zygote.py')
  const args = [...forkCommand(inject('librarySocket'), inject('python')), script, join(folder, 'workers.sock')]
  const zygote = spawn(inject('python'), args, {
    env: createPythonEnv(1),
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const control = zygote.stdio[3] as Socket
  await once(control, 'data')
  control.destroy()
  await once(zygote, 'exit')
  expect(existsSync(folder)).toBe(false)
})

describe('a system that refuses', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'rgs-refusals-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('a worker that cannot be forked costs no other worker', async () => {
    const [python, program, refusal] = ['python', 'program.py', 'refusal'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    const start = `env -i PYTHONHASHSEED=1 PATH=/usr/bin:/bin OPENBLAS_NUM_THREADS=1 '${inject('python')}' -s -B '${program}'`
    writeFileSync(python, `#!/bin/sh\nexec ${start} "$4"\n`, { mode: 0o755 })
    writeFileSync(
      program,
      `import os, sys
sys.path.insert(0, '${join(import.meta.dirname, '../../src/engine/python')}')
import zygote
fork = os.fork
def fork_or_fail():
    if os.path.exists('${refusal}'):
        raise BlockingIOError(11, 'Resource temporarily unavailable')
    return fork()
os.fork = fork_or_fail
zygote.main()
`,
    )
    const engine = await open({ pythonPath: python, workersPerPool: 1 })
    const make = async (task: string, config = {}) => (await engine.generateItems(task, config, [[1, 0]]))[0]?.kind
    expect(await make('gcd')).toBe('value')
    writeFileSync(refusal, '')
    const slow = make('zebra_puzzles', { num_people: 5, num_characteristics: 4 }) // another worker is forked meanwhile
    expect(await Promise.all([slow, make('gcd')])).toEqual(['value', 'value'])
    expect(engine.health().ok).toBe(true)
    await engine.close()
  })

  it('a zygote that the hanging process with the library does not fork imports the library itself', async () => {
    const librarySocket = join(folder, 'library.sock')
    const hang = `import socket, sys, time
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(sys.argv[1])
listener.listen()
print(flush=True)
time.sleep(600)`
    const library = spawn(inject('python'), ['-c', hang, librarySocket], { stdio: ['ignore', 'pipe', 'ignore'] })
    await once(library.stdout, 'data')
    const engine = await open({ librarySocket, workersPerPool: 1, zygoteDeadlineMs: 500 })
    await until(
      async () => engine.health().ok,
      (ok) => ok,
    )
    await engine.close()
    library.kill()
  })
})

it('says what is wrong when the library cannot be started', async () => {
  const engine = await open({ pythonPath: '/usr/bin/false' })
  expect(engine.health()).toMatchObject({ ok: false, detail: expect.stringContaining('ended') })
  await engine.close()
})

it('reads literals and expressions without running them, behind sandbox layers that each hold on their own', {
  timeout: 240_000,
}, () => {
  const output = execFileSync(
    inject('python'),
    ['-m', 'unittest', 'discover', '-s', 'test/engine/python', '-p', '*_test.py'],
    {
      env: { PYTHONPATH: 'src/engine/python', PYTHONHASHSEED: '1', PYTHONDONTWRITEBYTECODE: '1' },
      stdio: 'pipe',
    },
  )
  expect(output.toString()).not.toContain('FAILED')
})

it('items of programs, which each cost a process, do not keep other tasks waiting', async () => {
  const engine = await open({ librarySocket: inject('librarySocket') })
  try {
    await engine.generateItems('gcd', {}, [[0, 0]]) // the first item waits for a worker to be forked
    let made = 0
    const programs = Array.from({ length: 32 }, (_, k) =>
      engine.generateItems('codeio', {}, [[1, k]]).then(([outcome]) => {
        made++
        return outcome?.kind
      }),
    )
    expect((await engine.generateItems('gcd', {}, [[1, 0]]))[0]?.kind).toBe('value')
    expect(made).toBeLessThan(16) // 1; 32 if it stood in line
    expect(new Set(await Promise.all(programs))).toEqual(new Set(['value']))
  } finally {
    await engine.close()
  }
})

it('rows of data sets do not keep other items waiting, and get no more workers than those', async () => {
  const engine = await open({ librarySocket: inject('librarySocket') })
  try {
    let made = 0
    const places = Array.from({ length: 256 }, (_, k): [number, number] => [1, k])
    const rows = engine.generateEach('zebra_puzzles', {}, places, engine.version, 'dataset')
    for (const row of rows) void row.then(() => made++)
    for (let seed = 0; seed < 3; seed++)
      expect((await engine.generateItems('gcd', {}, [[seed, 0]]))[0]?.kind).toBe('value')
    expect(made).toBeLessThan(places.length / 2)
    expect(engine.pythonWorkers().items.alive).toBeLessThanOrEqual(4)
  } finally {
    await engine.close()
  }
})

it('integrals for which sympy has no end keep no answer to another task waiting', async () => {
  const engine = await open({ librarySocket: inject('librarySocket'), workersPerPool: 1, scoreDeadlineMs: 60_000 })
  try {
    let settled = 0
    const [item] = await engine.generateItems('simple_integration', {}, [[3, 0]])
    const { entry } = unwrapOutcome(item) as GeneratedItem
    const endless = ['x', 'X'].map((v) => `(sin(${v})+cos(${v})+tan(${v})+${v}**2)**9/(exp(${v})+log(${v})+${v}**7)**9`)
    const flood = ['simple_integration', 'intermediate_integration'].flatMap((task) =>
      Array.from({ length: 20 }, (_, k) =>
        engine.score(task, {}, 3, entry, [`${endless.join('+')} + ${k}`]).then(() => settled++),
      ),
    )
    await until(
      async () => engine.pythonWorkers(),
      ({ score }) => score.alive > 2, // the flood has as many workers as it gets at once
    )
    for (let k = 0; k < 3; k++) {
      const [scored] = await engine.score('chain_sum', {}, 1, { question: '2 + 2', answer: '4', metadata: {} }, ['4'])
      expect(scored).toEqual({ kind: 'value', value: 1 })
    }
    expect(settled).toBe(0)
    await engine.close()
    await Promise.all(flood)
  } finally {
    await engine.close()
  }
})

describe('a process that hangs', () => {
  const PLACES = Array.from({ length: 4 }, (_, k): [number, number] => [k, 0])
  /** With one worker of each kind. */
  const openSmall = async (deadlines: Partial<PythonEngineOptions>) => {
    const engine = await open({ workersPerPool: 1, ...deadlines })
    onTestFinished(() => engine.close())
    await until(
      async () => engine.pythonWorkers(),
      ({ items, score }) => items.alive === 1 && score.alive === 1,
    )
    return engine
  }
  const pidOf = (parent: number) =>
    listProcesses().find(({ ppid, args }) => ppid === parent && args.includes('zygote.py'))?.pid ?? Number.NaN

  it('a worker that is stopped is killed at its deadline, and takes no other item with it', async () => {
    const engine = await openSmall({ makeDeadlineMs: 5000 }) // more than an item takes on a busy machine
    const places = Array.from({ length: 40 }, (_, k): [number, number] => [k, 0]) // they take a second or two
    const making = engine.generateEach('zebra_puzzles', { num_people: 5, num_characteristics: 4 }, places)
    const [pid] = await until(
      async () => hostPids('R'),
      (pids) => pids.length > 0,
    )
    if (pid) process.kill(pid, 'SIGSTOP')
    const kinds = (await Promise.all(making)).map(({ kind }) => kind)
    expect(kinds.toSorted()).toEqual(['lost', ...Array(places.length - 1).fill('value')])
    expect((await engine.generateItems('gcd', {}, [[1, 0]]))[0]?.kind).toBe('value')
  })

  it('a zygote that is stopped is started again, with all that it should have done', async () => {
    const engine = await openSmall({ makeDeadlineMs: 500, zygoteDeadlineMs: 3000 })
    const zygote = pidOf(process.pid)
    const making = engine.generateEach('game_of_life', { simulation_steps: 100_000 }, PLACES) // an item takes seconds
    await until(
      async () => hostPids('R'),
      (pids) => pids.length > 0,
    )
    process.kill(zygote, 'SIGSTOP') // it can neither kill the slow worker nor fork another
    const outcomes = await Promise.all(making)
    expect(outcomes.every(({ kind }) => kind === 'lost')).toBe(true)
    await until(
      async () => engine.health().ok,
      (ok) => ok,
    )
    expect((await engine.generateItems('gcd', {}, [[1, 0]]))[0]?.kind).toBe('value')
  })
})
