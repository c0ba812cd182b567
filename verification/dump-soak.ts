/**
 * npm run verify -- dump-soak [-- GROUPS]: three workers dump groups while they are killed again and again, then a disk that is
 * full and a bound that is reached. Every accepted group must be in the files once. Ends with 1 if one is not.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Argument, Command, InvalidArgumentError } from 'commander'
import { type ChildServer, startChildServer } from './support/with-server.ts'

const parsePositiveInteger = (text: string) => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('a whole number from 1')
  return Number(text)
}
const [GROUPS] = new Command('dumps:soak')
  .addArgument(new Argument('[groups]', 'groups to dump').default(20_000).argParser(parsePositiveInteger))
  .parse().processedArgs as [number]
const GROUPS_PER_REQUEST = 100
/** Groups between two kills: by deeds, not by the clock, so that a slow machine gets done too. */
const GROUPS_BETWEEN_KILLS = 400
const WAIT_TIMEOUT_MS = 3600_000

interface RunProgressResponse {
  scored_groups: number
  dumps: Record<'rollouts' | 'failed', { waiting: number; unwritten: number; written: number; refused: number }>
}

const env = { WORKERS: '3', API_PROCESSES: '1', PYTHON_WORKERS: '1', DUMP_IDLE_FLUSH_S: '5', LOG_LEVEL: 'warn' }
const right = { completion: '<think>legs</think><answer>100</answer>' }
const wrong = { completion: '<answer>1</answer>' }

async function call(server: ChildServer, method: string, path: string, body?: unknown): Promise<unknown> {
  const init = { method, headers: { 'content-type': 'application/json' } }
  const response = await fetch(
    server.url + path,
    body === undefined ? { method } : { ...init, body: JSON.stringify(body) },
  )
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`)
  return text === '' ? undefined : JSON.parse(text)
}

async function getProgress(server: ChildServer, run: string): Promise<RunProgressResponse> {
  return ((await call(server, 'GET', `/runs/${run}`)) as { progress: RunProgressResponse }).progress // as GET /runs answers
}

/** Every fourth group fails; their ids say so. */
async function postGroups(server: ChildServer, run: string, count: number): Promise<void> {
  const { items } = (await call(server, 'POST', '/items', { task: 'leg_counting', seed: 42 })) as {
    items: { id: string }[]
  }
  for (let first = 0; first < count; first += GROUPS_PER_REQUEST) {
    const groups = Array.from({ length: Math.min(GROUPS_PER_REQUEST, count - first) }, (_, k) => {
      const failed = (first + k) % 4 === 3
      const id = `${failed ? 'bad' : 'good'}${first + k}`
      return { item_id: items[0]?.id, group_id: id, buffer: false, rollouts: failed ? [wrong, wrong] : [right, wrong] }
    })
    await call(server, 'POST', '/rollouts', { run, groups })
  }
}

function listWorkerPids(server: ChildServer): number[] {
  return execFileSync('ps', ['-eo', 'pid,ppid,args'])
    .toString()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, ppid, ...args]) => ppid === String(server.pid) && args.some((word) => word.endsWith('worker.ts')))
    .map(([pid]) => Number(pid))
}

async function waitUntil(what: string, right: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + WAIT_TIMEOUT_MS; !(await right().catch(() => false)); await sleep(200)) {
    if (Date.now() > end) throw new Error(`it never came that ${what}`)
  }
}

/** Lines lost, doubled, in the wrong kind of file or unreadable; and the files. */
function auditDumpFiles(
  dataDir: string,
  count: number,
  refused = 0,
): { files: number; lines: number; faults: string[] } {
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

function printAudit(title: string, about: string, { files, lines, faults }: ReturnType<typeof auditDumpFiles>): void {
  console.log(`${title}: ${about}; ${lines} lines in ${files} files; ${faults.length} faults`)
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
}

const settings = { dump_rollouts: true, dump_failed_rollouts: true, keep_groups: 100, batch_size: 2 }
const isIdle = ({ dumps: { rollouts, failed } }: RunProgressResponse) =>
  rollouts.waiting + rollouts.unwritten + failed.waiting + failed.unwritten === 0
const countRefused = ({ dumps: { rollouts, failed } }: RunProgressResponse) => rollouts.refused + failed.refused

async function soakWithKills(dataDir: string): Promise<void> {
  const server = await startChildServer({ ...env, DATA_DIR: dataDir })
  await call(server, 'PUT', '/runs/soak', settings)
  const started = performance.now()
  let killed = 0
  const posting = postGroups(server, 'soak', GROUPS)
  await waitUntil('all groups are scored', async () => {
    const { scored_groups } = await getProgress(server, 'soak')
    const workers = listWorkerPids(server)
    const victim = workers[Math.floor(Math.random() * workers.length)]
    if (victim !== undefined && scored_groups >= (killed + 1) * GROUPS_BETWEEN_KILLS) {
      process.kill(victim, 'SIGKILL')
      killed += 1
    }
    return scored_groups === GROUPS
  })
  await posting
  const seconds = ((performance.now() - started) / 1000).toFixed(0)
  await waitUntil('nothing waits for a file', async () => isIdle(await getProgress(server, 'soak')))
  await server.stop()
  printAudit('kills', `${GROUPS} groups, 3 workers, ${killed} killed in ${seconds} s`, auditDumpFiles(dataDir, GROUPS))
}

async function soakWithByteLimit(dataDir: string): Promise<void> {
  const count = Math.min(GROUPS, 4000)
  const most = 1024 * 1024
  const server = await startChildServer({ ...env, DATA_DIR: dataDir, DUMPS_MAX_BYTES: String(most) })
  await call(server, 'PUT', '/runs/bound', settings)
  await postGroups(server, 'bound', count)
  await waitUntil('all groups are scored', async () => (await getProgress(server, 'bound')).scored_groups === count)
  await waitUntil('nothing waits for a file', async () => isIdle(await getProgress(server, 'bound')))
  const refused = countRefused(await getProgress(server, 'bound'))
  const { files } = (await call(server, 'GET', '/dumps')) as { files: { bytes: number }[] }
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  await server.stop()
  const found = auditDumpFiles(dataDir, count, refused)
  if (bytes > most) found.faults.push(`${bytes} bytes are over the bound`)
  if (refused === 0) found.faults.push('nothing was refused')
  printAudit('bound', `${count} groups under ${most} bytes, ${refused} refused, ${bytes} bytes written`, found)
}

/** Wants root: a file system of one megabyte is mounted where the files go. */
async function soakWithFullDisk(dataDir: string): Promise<void> {
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
    const server = await startChildServer({ ...env, DATA_DIR: dataDir, LOG_LEVEL: 'silent' })
    await call(server, 'PUT', '/runs/full', settings)
    await postGroups(server, 'full', count)
    await waitUntil('all groups are scored', async () => (await getProgress(server, 'full')).scored_groups === count)
    const held = async () => {
      const { rollouts, failed } = (await getProgress(server, 'full')).dumps
      return rollouts.unwritten + failed.unwritten
    }
    await waitUntil('files wait for room', async () => (await held()) > 0)
    const waiting = await held()
    execFileSync('mount', ['-o', 'remount,size=64m', folder])
    await waitUntil('nothing waits for a file', async () => isIdle(await getProgress(server, 'full')))
    const refused = countRefused(await getProgress(server, 'full'))
    await server.stop()
    const about = `${count} groups onto 1 MiB, ${waiting} files waited until there was room, ${refused} refused`
    printAudit('full disk', about, auditDumpFiles(dataDir, count, refused))
  } finally {
    execFileSync('umount', [folder])
  }
}

for (const part of [soakWithKills, soakWithByteLimit, soakWithFullDisk]) {
  const dataDir = mkdtempSync(join(tmpdir(), 'rgs-soak-'))
  try {
    await part(dataDir)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
