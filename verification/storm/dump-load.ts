/**
 * Groups that workers dump to files: while they are killed again and again, under a limit of bytes, and onto a disk that is full.
 * Every accepted group must be in the files once.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fleet } from '../support/fleet.ts'
import { requireBody } from '../support/http.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { waitUntil } from '../support/wait.ts'
import { Ledger } from './ledger.ts'
import { killOneOf, type StormContext, type StormReport, storm } from './storm.ts'

const RUN = 'dumps'
const SETTINGS = { dump_rollouts: true, dump_failed_rollouts: true, keep_groups: 100, batch_size: 2 }
const ENV = { DUMP_IDLE_FLUSH_S: '5' }
const WORKERS = 3
const GROUPS_PER_REQUEST = 100
/** Groups between two kills: by deeds, not by the clock, so that a slow machine gets done too. */
const GROUPS_BETWEEN_KILLS = 400
/** Without kills. */
const MAX_GROUPS = 4000
const MAX_BYTES = 1024 * 1024
const WAIT_TIMEOUT_MS = 3600_000
const RIGHT = { completion: '<think>legs</think><answer>100</answer>' }
const WRONG = { completion: '<answer>1</answer>' }

interface DumpStorm {
  groups: number
  seed: number
  env?: Record<string, string>
  /** Before the fleet starts; returns what undoes it. Throws if this user may not do it. */
  mount?: (dumps: string) => () => void
  events: (fleet: Fleet, dumps: string) => AsyncIterable<string>
  /** Whether some groups must have been refused for want of room. */
  mustRefuse?: boolean
}

export function stormWithKills(groups: number, seed: number): Promise<StormReport | undefined> {
  return dumpThrough({
    groups,
    seed,
    async *events(fleet) {
      const random = new SeededRandom(seed)
      const kill = killOneOf(fleet, ['worker'])
      for (let done = 1; done * GROUPS_BETWEEN_KILLS < groups; done++) {
        await wait('groups are scored', async () => (await countScored(fleet)) >= done * GROUPS_BETWEEN_KILLS)
        const what = await kill(done, random)
        if (what !== undefined) yield what
      }
    },
  })
}

export function stormWithByteLimit(groups: number, seed: number): Promise<StormReport | undefined> {
  const env = { DUMPS_MAX_BYTES: String(MAX_BYTES) }
  return dumpThrough({ groups: Math.min(groups, MAX_GROUPS), seed, env, async *events() {}, mustRefuse: true })
}

/** Wants root: a file system of one megabyte is mounted where the files go. */
export function stormWithFullDisk(groups: number, seed: number): Promise<StormReport | undefined> {
  const count = Math.min(groups, MAX_GROUPS)
  return dumpThrough({
    groups: count,
    seed,
    env: { LOG_LEVEL: 'silent' },
    mount(dumps) {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', dumps], { stdio: 'ignore' })
      return () => execFileSync('umount', [dumps])
    },
    async *events(fleet, dumps) {
      await wait('all groups are scored', async () => (await countScored(fleet)) === count)
      await wait('files wait for room', async () => (await countDumps(fleet)).unwritten > 0)
      const { unwritten } = await countDumps(fleet)
      execFileSync('mount', ['-o', 'remount,size=64m', dumps])
      yield `${unwritten} files waited until there was room`
    },
  })
}

/** Undefined, with a line that says so, where this user may not mount a file system. */
async function dumpThrough(options: DumpStorm): Promise<StormReport | undefined> {
  const { groups, seed, env, mount, events, mustRefuse = false } = options
  const dataDir = mkdtempSync(join(tmpdir(), 'rgs-dumps-'))
  const dumps = join(dataDir, 'data_dumps')
  mkdirSync(dumps)
  let undo: (() => void) | undefined
  try {
    try {
      undo = mount?.(dumps)
    } catch {
      console.log('Left out: this user may not mount a file system.')
      return undefined
    }
    const fleet = await Fleet.start({ workers: WORKERS, env: { ...ENV, DATA_DIR: dataDir, ...env } })
    const ledger = new Ledger()
    let refusedCount = 0
    const prepare = ({ client }: StormContext) => client.request('PUT', `/runs/${RUN}`, SETTINGS)
    const work = (context: StormContext) => postGroups(context, groups)
    const settle = async () => {
      await wait('all groups are scored', async () => (await countScored(fleet)) === groups)
      await wait('nothing waits for a file', async () => {
        const { waiting, unwritten } = await countDumps(fleet)
        return waiting + unwritten === 0
      })
      const { refused } = await countDumps(fleet)
      if (mustRefuse)
        ledger.expectEqual('something was refused, and the files fit', 'yes', describeLimit(dumps, refused))
      ledger.entries.push(['groups', groups], ['… refused', refused])
      refusedCount = refused
    }
    const report = await storm({ fleet, ledger, load: { prepare, work, settle }, events: events(fleet, dumps), seed })
    auditFiles(ledger, dumps, groups, refusedCount) // once the workers have ended: they leave no file half written
    return report
  } finally {
    undo?.()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Every fourth group fails; their IDs say so. */
async function postGroups({ client }: StormContext, count: number): Promise<void> {
  const { body } = await client.request('POST', '/items', { task: 'leg_counting', seed: 42 })
  const ids = listIds(count)
  for (let first = 0; first < count; first += GROUPS_PER_REQUEST) {
    const groups = ids.slice(first, first + GROUPS_PER_REQUEST).map((id) => ({
      item_id: body.items[0].id,
      group_id: id,
      buffer: false,
      rollouts: id.startsWith('bad') ? [WRONG, WRONG] : [RIGHT, WRONG],
    }))
    const { ok, text } = await client.request('POST', '/rollouts', { run: RUN, groups })
    if (!ok) throw new Error(text)
  }
}

const listIds = (count: number) => Array.from({ length: count }, (_, k) => `${k % 4 === 3 ? 'bad' : 'good'}${k}`)

/** Lines that are lost, doubled, in the wrong kind of file or unreadable. */
function auditFiles(ledger: Ledger, folder: string, count: number, refused: number): void {
  const names = readdirSync(folder).filter((name) => !name.startsWith('.folder'))
  const found: string[] = []
  for (const name of names) {
    if (!name.endsWith('.jsonl')) ledger.addViolation(`${name} was left behind`)
    const text = readFileSync(join(folder, name), 'utf8')
    if (!text.endsWith('\n')) ledger.addViolation(`${name} does not end with a line`)
    for (const line of text.split('\n').slice(0, -1)) {
      const { group_id } = JSON.parse(line) as { group_id: string } // a cut line throws
      found.push(group_id)
      if (group_id.startsWith('bad') !== name.includes('FAILED')) ledger.addViolation(`${group_id} is in ${name}`)
    }
  }
  // Which groups were refused is not known, only how many.
  ledger.expectOnce('group', refused === 0 ? listIds(count) : found, found)
  ledger.expectEqual('groups: accepted, and in files', count - refused, found.length)
  ledger.entries.push(['files', names.length])
}

function describeLimit(dumps: string, refused: number): string {
  const bytes = readdirSync(dumps).reduce((sum, name) => sum + readFileSync(join(dumps, name)).length, 0)
  return refused > 0 && bytes <= MAX_BYTES ? 'yes' : `${refused} refused, ${bytes} bytes written`
}

interface DumpCounts {
  waiting: number
  unwritten: number
  refused: number
}

async function countDumps(fleet: Fleet): Promise<DumpCounts> {
  const { rollouts, failed } = (await getProgress(fleet)).dumps
  const add = (name: keyof DumpCounts) => Number(rollouts[name]) + Number(failed[name])
  return { waiting: add('waiting'), unwritten: add('unwritten'), refused: add('refused') }
}

async function countScored(fleet: Fleet): Promise<number> {
  return (await getProgress(fleet)).scored_groups
}

async function getProgress({ urls }: Fleet) {
  return (await requireBody('GET', `${urls[0]}/runs/${RUN}`)).progress
}

function wait(what: string, holds: () => Promise<boolean>): Promise<void> {
  return waitUntil(what, () => holds().catch(() => false), { timeoutMs: WAIT_TIMEOUT_MS, pollMs: 200 })
}
