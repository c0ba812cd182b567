/**
 * npm run dumps:soak [-- GROUPS]: three workers dump groups while they are killed again and again, then a disk that is
 * full and a bound that is reached. Every accepted group must be in the files once. Ends with 1 if one is not.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Argument, Command, InvalidArgumentError } from 'commander'
import { type RunningServer, startServer } from './with-server.ts'

const whole = (text: string) => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('a whole number from 1')
  return Number(text)
}
const [GROUPS] = new Command('dumps:soak')
  .addArgument(new Argument('[groups]', 'groups to dump').default(20_000).argParser(whole))
  .parse().processedArgs as [number]
const POSTED_AT_ONCE = 100
/** Groups between two kills: by deeds, not by the clock, so that a slow machine gets done too. */
const KILL_EVERY = 400
const DONE_WITHIN_MS = 3600_000

interface Progress {
  scored_groups: number
  dumps: Record<'rollouts' | 'failed', { waiting: number; unwritten: number; written: number; refused: number }>
}

const env = { WORKERS: '3', API_PROCESSES: '1', ENGINE_HOSTS: '1', DUMPS_QUIET_S: '5', LOG_LEVEL: 'warn' }
const right = { completion: '<think>legs</think><answer>100</answer>' }
const wrong = { completion: '<answer>1</answer>' }

async function call(server: RunningServer, method: string, path: string, body?: unknown): Promise<unknown> {
  const init = { method, headers: { 'content-type': 'application/json' } }
  const response = await fetch(
    server.url + path,
    body === undefined ? { method } : { ...init, body: JSON.stringify(body) },
  )
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`)
  return text === '' ? undefined : JSON.parse(text)
}

async function progressOf(server: RunningServer, run: string): Promise<Progress> {
  return ((await call(server, 'GET', `/runs/${run}`)) as { progress: Progress }).progress // as GET /runs answers
}

/** Every fourth group fails; their ids say so. */
async function post(server: RunningServer, run: string, count: number): Promise<void> {
  const { items } = (await call(server, 'POST', '/items', { task: 'leg_counting', seed: 42 })) as {
    items: { id: string }[]
  }
  for (let first = 0; first < count; first += POSTED_AT_ONCE) {
    const groups = Array.from({ length: Math.min(POSTED_AT_ONCE, count - first) }, (_, k) => {
      const failed = (first + k) % 4 === 3
      const id = `${failed ? 'bad' : 'good'}${first + k}`
      return { item_id: items[0]?.id, group_id: id, buffer: false, rollouts: failed ? [wrong, wrong] : [right, wrong] }
    })
    await call(server, 'POST', '/rollouts', { run, groups })
  }
}

function workersOf(server: RunningServer): number[] {
  return execFileSync('ps', ['-eo', 'pid,ppid,args'])
    .toString()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, ppid, ...args]) => ppid === String(server.pid) && args.some((word) => word.endsWith('worker.ts')))
    .map(([pid]) => Number(pid))
}

async function until(what: string, right: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + DONE_WITHIN_MS; !(await right().catch(() => false)); await sleep(200)) {
    if (Date.now() > end) throw new Error(`it never came that ${what}`)
  }
}

/** Lines lost, doubled, in the wrong kind of file or unreadable; and the files. */
function audit(dataDir: string, count: number, refused = 0): { files: number; lines: number; faults: string[] } {
  const folder = join(dataDir, 'data_dumps')
  const names = readdirSync(folder).filter((name) => !name.startsWith('.folder'))
  const seen = new Map<string, number>()
  const faults: string[] = []
  for (const name of names) {
    if (!name.endsWith('.jsonl')) faults.push(`${name} was left behind`)
    const text = readFileSync(join(folder, name), 'utf8')
    if (!text.endsWith('\n')) faults.push(`${name} does not end with a line`)
    for (const line of text.split('\n').slice(0, -1)) {
      const { group_id } = JSON.parse(line) as { group_id: string } // a cut line throws
      seen.set(group_id, (seen.get(group_id) ?? 0) + 1)
      if (group_id.startsWith('bad') !== name.includes('FAILED')) faults.push(`${group_id} is in ${name}`)
    }
  }
  for (const [id, times] of seen) if (times > 1) faults.push(`${id} is there ${times} times`)
  if (seen.size !== count - refused) faults.push(`${count - refused} groups were accepted, ${seen.size} are there`)
  return { files: names.length, lines: [...seen.values()].reduce((sum, n) => sum + n, 0), faults }
}

function report(title: string, about: string, { files, lines, faults }: ReturnType<typeof audit>): void {
  console.log(`${title}: ${about}; ${lines} lines in ${files} files; ${faults.length} faults`)
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
}

const settings = { dump_rollouts: true, dump_failed_rollouts: true, keep_groups: 100, batch_size: 2 }
const idle = ({ dumps: { rollouts, failed } }: Progress) =>
  rollouts.waiting + rollouts.unwritten + failed.waiting + failed.unwritten === 0
const refusedOf = ({ dumps: { rollouts, failed } }: Progress) => rollouts.refused + failed.refused

async function kills(dataDir: string): Promise<void> {
  const server = await startServer({ ...env, DATA_DIR: dataDir })
  await call(server, 'PUT', '/runs/soak', settings)
  const started = performance.now()
  let killed = 0
  const posting = post(server, 'soak', GROUPS)
  await until('all groups are scored', async () => {
    const { scored_groups } = await progressOf(server, 'soak')
    const workers = workersOf(server)
    const victim = workers[Math.floor(Math.random() * workers.length)]
    if (victim !== undefined && scored_groups >= (killed + 1) * KILL_EVERY) {
      process.kill(victim, 'SIGKILL')
      killed += 1
    }
    return scored_groups === GROUPS
  })
  await posting
  const seconds = ((performance.now() - started) / 1000).toFixed(0)
  await until('nothing waits for a file', async () => idle(await progressOf(server, 'soak')))
  await server.stop()
  report('kills', `${GROUPS} groups, 3 workers, ${killed} killed in ${seconds} s`, audit(dataDir, GROUPS))
}

async function bound(dataDir: string): Promise<void> {
  const count = Math.min(GROUPS, 4000)
  const most = 1024 * 1024
  const server = await startServer({ ...env, DATA_DIR: dataDir, DUMPS_MAX_BYTES: String(most) })
  await call(server, 'PUT', '/runs/bound', settings)
  await post(server, 'bound', count)
  await until('all groups are scored', async () => (await progressOf(server, 'bound')).scored_groups === count)
  await until('nothing waits for a file', async () => idle(await progressOf(server, 'bound')))
  const refused = refusedOf(await progressOf(server, 'bound'))
  const { files } = (await call(server, 'GET', '/dumps')) as { files: { bytes: number }[] }
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  await server.stop()
  const found = audit(dataDir, count, refused)
  if (bytes > most) found.faults.push(`${bytes} bytes are over the bound`)
  if (refused === 0) found.faults.push('nothing was refused')
  report('bound', `${count} groups under ${most} bytes, ${refused} refused, ${bytes} bytes written`, found)
}

/** Wants root: a file system of one megabyte is mounted where the files go. */
async function fullDisk(dataDir: string): Promise<void> {
  const count = Math.min(GROUPS, 4000)
  const folder = join(dataDir, 'data_dumps')
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    console.log('full disk: left out, since this user may not mount one')
    return
  }
  try {
    const server = await startServer({ ...env, DATA_DIR: dataDir, LOG_LEVEL: 'silent' })
    await call(server, 'PUT', '/runs/full', settings)
    await post(server, 'full', count)
    await until('all groups are scored', async () => (await progressOf(server, 'full')).scored_groups === count)
    const held = async () => {
      const { rollouts, failed } = (await progressOf(server, 'full')).dumps
      return rollouts.unwritten + failed.unwritten
    }
    await until('files wait for room', async () => (await held()) > 0)
    const waiting = await held()
    execFileSync('mount', ['-o', 'remount,size=64m', folder])
    await until('nothing waits for a file', async () => idle(await progressOf(server, 'full')))
    const refused = refusedOf(await progressOf(server, 'full'))
    await server.stop()
    const about = `${count} groups onto 1 MiB, ${waiting} files waited until there was room, ${refused} refused`
    report('full disk', about, audit(dataDir, count, refused))
  } finally {
    execFileSync('umount', [folder])
  }
}

for (const part of [kills, bound, fullDisk]) {
  const dataDir = mkdtempSync(join(tmpdir(), 'rgs-soak-'))
  try {
    await part(dataDir)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
