/** Hostile Python in a real process that makes items, in place of a program that the library bundles. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest'
import type { GeneratedItem } from '../../src/engine/engine.ts'
import { PythonEngine } from '../../src/engine/python-engine.ts'
import { listProcesses } from '../../verification/support/processes.ts'
import { until } from '../world.ts'

vi.setConfig({ testTimeout: 120_000 }) // on a busy machine

const PRELUDE = `
import errno, json, os, random, resource, signal, socket, struct, sys, threading, time

def attempt(deed):
    try:
        return repr(deed())[:80]
    except OSError as error:
        return errno.errorcode[error.errno]
    except BaseException as error:
        return type(error).__name__
`

/** Difficulties of the programs that say what worker.py does not. */
const WAYS = [6, 7, 8, 9, 10]

/** By difficulty, since that is how a config chooses one. */
const PROGRAMS = {
  1: `
def main_solution():
    parent = os.getppid()
    return {name: attempt(deed) for name, deed in {
        "passwords": lambda: open("/etc/passwd").read(),
        "environment of the parent": lambda: open(f"/proc/{parent}/environ").read(),
        "memory of the parent": lambda: open(f"/proc/{parent}/mem", "rb").read(1),
        "folders of others": lambda: os.listdir("/home"),
        "change the library": lambda: os.truncate(random.__file__, 0),
        "write elsewhere": lambda: open("/var/tmp/pwned", "w"),
        "socket": lambda: socket.socket(),
        "connection": lambda: socket.create_connection(("127.0.0.1", 6379)),
        "unix socket": lambda: socket.socket(socket.AF_UNIX),
        "program": lambda: os.execv("/bin/true", ["true"]),
        "kill the parent": lambda: os.kill(parent, signal.SIGKILL),
        "kill all": lambda: os.kill(-1, signal.SIGKILL),
        "kill siblings": lambda: os.kill(os.getpid() + 1, signal.SIGKILL),
        "kill the group": lambda: os.killpg(os.getpgid(0), signal.SIGKILL),
        "become root": lambda: os.setuid(0),
        "limits of the parent": lambda: resource.prlimit(parent, resource.RLIMIT_CPU, (1, 1)),
        "more memory": lambda: resource.setrlimit(resource.RLIMIT_AS, (-1, -1)),
        "priority": lambda: os.nice(-10),
    }.items()}
`,
  2: `
def main_solution():
    written, ended = 0, ""
    for k in range(40):
        try:
            with open(f"/tmp/{k}", "wb") as file:
                file.write(bytes(8 << 20))
            written += 8
        except OSError as error:
            ended = errno.errorcode[error.errno]
            break
    large = attempt(lambda: open("/dev/shm/large", "wb").write(bytes(20 << 20)))
    return {"megabytes": written, "ended": ended, "large": large, "memory": attempt(lambda: bytearray(8 << 30))}
`,
  3: `
def main_solution():
    children = 0
    for k in range(200):
        try:
            pid = os.fork()
        except OSError as error:
            return {"children": children, "ended": errno.errorcode[error.errno]}
        if pid == 0:
            try:
                os.fork()
            finally:
                time.sleep(1000)
        children += 1
    return {"children": children, "ended": ""}
`,
  4: `
def main_solution():
    forged = {"value": {"question": "forged", "entry": {"answer": "forged", "metadata": {}}}}
    body = json.dumps(forged).encode()
    frames = 5 * (struct.pack(">I", len(body)) + body)
    def send():
        for descriptor in range(3, 64):
            attempt(lambda: os.write(descriptor, frames))
    def go_on():
        while True:
            send()
            time.sleep(0.001)
    send()
    threading.Thread(target=go_on, daemon=True).start()
    if os.fork() == 0:
        go_on()
    return {}
`,
  6: `
def main_solution():
    def send(frames):
        for descriptor in range(3, 64):
            attempt(lambda: os.write(descriptor, frames))
    body = [b'"text"', b"[1", b'{"value": null}', b'{"started": true}', b""][WAY]
    send(struct.pack(">I", len(body)) + body if WAY < 4 else struct.pack(">I", 0xFFFFFFFF) + b"x")
    while True:
        time.sleep(1)
`,
  5: `
def main_solution():
    import library, worker
    random.Random.random = lambda self: 0.25
    random.Random.randint = random.Random.choice = lambda self, *a: a[0] if len(a) > 1 else a[0][0]
    library.make_entry = lambda *a: {"question": "poisoned", "answer": "poisoned", "metadata": {}}
    library.score = lambda *a: 1.0
    worker.OPERATIONS["items"] = lambda *a: lambda unit: {"question": "poisoned", "entry": {"answer": "", "metadata": {}}}
    sys.modules["json"].dumps = lambda *a, **k: '"poisoned"'
    return {}
`,
}

let folder: string
let engine: PythonEngine
let clean: PythonEngine

const options = { workersPerPool: 2, scoreDeadlineMs: 5000, makeDeadlineMs: 10_000 }
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rgs-hostile-'))
  const { 6: talk, ...others } = PROGRAMS
  const ways = WAYS.map((way, k) => [way, talk.replaceAll('WAY', String(k))] as const)
  const programs = [...Object.entries(others), ...ways].map(([difficulty, program]) => [difficulty, PRELUDE + program])
  writeFileSync(join(folder, 'programs.json'), JSON.stringify(Object.fromEntries(programs)))
  const python = join(folder, 'python')
  const zygote = join(import.meta.dirname, 'hostile_zygote.py')
  writeFileSync(
    python,
    `#!/bin/sh\nexec env -i PYTHONHASHSEED=1 PATH=/usr/bin:/bin OPENBLAS_NUM_THREADS=1 '${inject('python')}' -s -B '${zygote}' "$4" '${folder}/programs.json'\n`,
  )
  chmodSync(python, 0o755)
  engine = new PythonEngine({ ...options, pythonPath: python })
  clean = new PythonEngine({ ...options, pythonPath: inject('python'), librarySocket: inject('librarySocket') })
  await Promise.all([engine.waitUntilStarted(), clean.waitUntilStarted()])
})
afterAll(async () => {
  await Promise.all([engine.close(), clean.close()])
  rmSync(folder, { recursive: true, force: true })
})

const make = async (difficulty: number) => {
  const config = { difficulty, input_prediction_probability: 1 }
  return (await engine.generateItems('codeio', config, [[1, 0]]))[0]
}
/** What the program said. */
async function run(difficulty: number): Promise<Record<string, unknown>> {
  const outcome = await make(difficulty)
  if (outcome?.kind !== 'value') throw new Error(`not made: ${JSON.stringify(outcome)}`)
  return JSON.parse((outcome.value as GeneratedItem).entry.answer ?? '') // engines give what they made
}
/** Items of other tasks are those of an engine that no program has touched. */
async function expectItemsAsClean(): Promise<void> {
  for (const task of ['gcd', 'maze', 'leg_counting', 'chain_sum']) {
    const places = Array.from({ length: 20 }, (_, k): [number, number] => [7, k])
    const [made, wanted] = await Promise.all([engine, clean].map((by) => by.generateItems(task, {}, places)))
    expect(made).toEqual(wanted)
  }
}
const layersOn = async () => {
  await until(
    async () => Object.keys(engine.sandboxLayers()).length,
    (count) => count > 0,
  )
  return Object.values(engine.sandboxLayers()).every((refusal) => refusal === null)
}
/** Processes of this engine: the zygote, its workers and what they have left. */
const processes = () => listProcesses().filter(({ args }) => args.includes(`${folder}/programs.json`)).length

it('reads no other data, opens no network, runs no program, harms no other process', async ({ skip }) => {
  if (!(await layersOn())) skip('this platform refuses layers: GET /readyz says which')
  const outcomes = await run(1)
  expect(Object.keys(outcomes)).toHaveLength(18)
  for (const [deed, came] of Object.entries(outcomes))
    expect([deed, came]).toEqual([deed, expect.stringMatching(/^(EACCES|EPERM|ENOENT|ValueError)$/)])
})

it('fills neither the disk nor the memory', async ({ skip }) => {
  if (!(await layersOn())) skip('this platform refuses layers: GET /readyz says which')
  expect(await run(2)).toEqual({ megabytes: 64, ended: 'ENOSPC', large: 'EFBIG', memory: 'MemoryError' })
})

it('leaves no process behind, however many it has begun', async () => {
  const outcome = await make(3)
  expect(['value', 'lost']).toContain(outcome?.kind)
  await until(
    async () => processes(),
    (count) => count <= 1 + 2 * options.workersPerPool,
  )
  await expectItemsAsClean()
})

it('forges no answer to the request of another', async () => {
  const [, , ...others] = await Promise.all([make(4), make(4), expectItemsAsClean(), expectItemsAsClean(), run(1)])
  expect(others.at(-1)).not.toHaveProperty('forged')
  await expectItemsAsClean()
  await until(
    async () => processes(),
    (count) => count <= 1 + 2 * options.workersPerPool,
  )
})

it('what is no answer costs the request in hand and no other', async () => {
  for (const way of WAYS) {
    expect([way, await make(way)]).toMatchObject([way, { kind: 'lost', reason: 'crashed' }])
    expect((await engine.generateItems('gcd', {}, [[7, 0]]))[0]?.kind).toBe('value')
  }
  await expectItemsAsClean()
})

it('changes nothing for what comes after it: each of its items has a process of its own', async () => {
  await Promise.all(Array.from({ length: 6 }, () => make(5)))
  await expectItemsAsClean()
  const [item] = await clean.generateItems('simple_integration', {}, [[3, 0]])
  const { entry } = (item as { value: GeneratedItem }).value
  const answers = ['wrong', entry.answer ?? '']
  expect(await engine.score('simple_integration', {}, 3, entry, answers)).toEqual(
    await clean.score('simple_integration', {}, 3, entry, answers),
  )
})

it('a config is never run: no text of it ends a process', async () => {
  const code = `__import__('os')._exit(9)`
  const before = clean.pythonWorkers()
  const tried: [task: string, name: string, value: unknown][] = []
  for (const [task, { config_schema }] of Object.entries(await clean.tasks())) {
    const { properties } = config_schema as {
      properties: Record<string, { type?: unknown; items?: { type?: unknown } }>
    }
    for (const [name, field] of Object.entries(properties)) {
      const { type, items } = field
      const isText = (type === 'string' || items?.type === 'string') && !JSON.stringify(field).includes('"enum"')
      if (!isText) continue
      tried.push([task, name, type === 'string' ? code : [code]])
    }
  }
  await Promise.all(
    tried.map(async ([task, name, value]) => {
      const config = await clean.canonicalizeConfig(task, { [name]: value }).catch(() => undefined)
      const outcomes = config && (await clean.generateItems(task, config, [[1, 0]]))
      expect([task, name, outcomes?.[0]]).not.toMatchObject([task, name, { reason: 'crashed' }])
    }),
  )
  expect(tried.length).toBeGreaterThan(10)
  expect(clean.pythonWorkers().items.ends.crashed).toBe(before.items.ends.crashed)
})
