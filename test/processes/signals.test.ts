/** Stop signals as terminals, systemd, npm and launchers send them: to every process, in any order and more than once. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { buildChildEnvironment, createLibrarySocketEnv } from '../../src/platform/installation.ts'
import { listProcesses } from '../../verification/support/processes.ts'
import { getFreePort, startChildServer } from '../../verification/support/with-server.ts'
import { type Client, clientOf } from '../failures/server.ts'
import { HANGING, until } from '../world.ts'

/** A library process of its own, as users' servers have: signals reach it, too. */
const OWN_LIBRARY = createLibrarySocketEnv('')

const ENV = {
  API_PROCESSES: '1',
  WORKERS: '1',
  PYTHON_WORKERS: '2',
  SCORE_DEADLINE_MS: '2000',
}

const ROOT = join(import.meta.dirname, '..', '..')

interface Server {
  url: string
  /** Also of its process group. */
  pid: number
  ended: Promise<number | null>
}

let folder: string
let server: Server
let client: Client
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rgs-signals-'))
})
afterEach(async () => {
  for (const pid of listServerProcesses()) kill(pid, 'SIGKILL')
  await server.ended
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
})

const start = (env: Record<string, string> = {}) => startChildServer({ ...ENV, ...env, DATA_DIR: folder })

/** As the unit in the docs says, with other folders and settings. */
async function startUnit(): Promise<Server> {
  const page = readFileSync(join(ROOT, 'docs/operations/one-machine.md'), 'utf8')
  const [, command = ''] = /^ExecStart=(.*)$/m.exec(page) ?? []
  const [program = '', ...args] = command.replaceAll('/opt/reasoning-gym-server', ROOT).split(' ')
  const port = await getFreePort()
  const env = buildChildEnvironment({ ...ENV, ...OWN_LIBRARY, DATA_DIR: folder, PORT: String(port) })
  const child = spawn(program, args, { cwd: ROOT, env, stdio: 'ignore', detached: true })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const url = `http://127.0.0.1:${port}`
  const readiness = () => fetch(`${url}/readyz`).then((reply) => reply.json() as Promise<{ workers?: { ok: boolean } }>)
  await until(
    () => readiness().catch(() => undefined),
    (ready) => ready?.workers?.ok === true,
    60_000,
  )
  return { url, pid: child.pid ?? 0, ended }
}

/** With a dump that waits, and a call that waits for a scorer at work. Returns the status that the call gets, 0 for none. */
async function startWork(starting: Promise<Server>): Promise<{ reply: Promise<number> }> {
  server = await starting
  client = clientOf(server.url)
  await client.call('PUT', '/runs/r', { dump_rollouts: 'all' })
  expect((await client.postUntilScored('r', 'before')).status).toBe(200)
  const { items } = (await client.call('POST', '/items', { task: HANGING.task, seed: 1 })).body
  const rollouts = [{ completion: `<answer>${HANGING.answer}</answer>` }, { completion: 'none' }]
  const body = { run: 'r', item_id: items[0].id, group_id: 'waiting', rollouts }
  const call = client.call('POST', '/rollouts', body, { prefer: 'wait=30' })
  const reply = call.then(
    ({ status }) => status,
    () => 0,
  )
  await until(
    () => client.call('GET', '/runs/r'),
    ({ body }) => body.progress.groups === 2,
  )
  return { reply }
}

/** Process IDs of the server, the oldest first. Redis has a group of its own. `script`: only those that run it. */
function listServerProcesses(script = ''): number[] {
  const all = listProcesses()
  const group = new Set(all.flatMap(({ pid, pgid }) => (pgid === server.pid ? [pid] : [])))
  const own = all.filter(({ pid, ppid }) => group.has(pid) || group.has(ppid))
  return own.flatMap(({ pid, args }) => (args.includes(script) ? [pid] : []))
}

/** Python workers end when they see that their parent has. */
function untilGone(): Promise<unknown> {
  return until(
    async () => listServerProcesses(),
    (pids) => pids.length === 0,
  )
}

function send(signal: NodeJS.Signals, whom: Whom, all = listServerProcesses()): void {
  const pids = { parent: [server.pid], group: [-server.pid], all, 'all, children first': all.toReversed() }[whom]
  for (const pid of pids) kill(pid, signal)
}

/** It may have ended already. */
function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {}
}

type Whom = 'parent' | 'group' | 'all' | 'all, children first'

const STOPS: { name: string; starter: () => Promise<Server>; signals: [NodeJS.Signals, Whom][] }[] = [
  {
    name: 'a terminal that closes below npm and a launcher, and Ctrl-C',
    starter: () => start(OWN_LIBRARY),
    signals: [
      ['SIGHUP', 'all, children first'],
      ['SIGINT', 'group'],
      ['SIGTERM', 'parent'],
    ],
  },
  {
    name: 'systemd, and an operator who is in doubt',
    starter: startUnit,
    signals: [
      ['SIGTERM', 'all'],
      ['SIGINT', 'parent'],
      ['SIGTERM', 'group'],
    ],
  },
]
it.each(STOPS)(
  '$name: the shutdown is complete',
  async ({ starter, signals }) => {
    const { reply } = await startWork(starter())
    const all = listServerProcesses()
    for (const [signal, whom] of signals) send(signal, whom, all) // within two seconds, however busy the machine is
    expect(await server.ended).toBe(0)
    expect([200, 202, 503]).toContain(await reply) // 503: systemd stops Redis, too
    const dumps = join(folder, 'data_dumps')
    const files = readdirSync(dumps).filter((name) => name.endsWith('.jsonl'))
    expect(files.map((name) => readFileSync(join(dumps, name), 'utf8')).join('')).toContain('"before"')
    await untilGone()
  },
  120_000,
)

it('a second Ctrl-C, two seconds later, ends it at once', async () => {
  await startWork(start())
  for (const pid of listServerProcesses('worker.ts')) kill(pid, 'SIGSTOP') // so that the shutdown is not complete before
  send('SIGINT', 'group')
  await sleep(2200)
  send('SIGINT', 'group')
  expect(await server.ended).toBe(1)
  await untilGone()
}, 120_000)
