/** Three ranks that train by the loop of docs/guides/training-loop.md, each a process that is killed at chosen moments. */
import { spawn } from 'node:child_process'
import { EventEmitter, on } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { requirePython } from '../../src/main/bootstrap/python/python-environment.ts'
import { buildChildEnvironment } from '../../src/platform/installation.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import type { Ledger } from './ledger.ts'
import type { Load } from './storm.ts'

const RANKS = 3
const RUN = 'by-steps' // as the page names it
const CALLS = ['items', 'post', 'batch', 'ack']
const KILL_MOMENTS = [...CALLS.flatMap((call) => [call, `after ${call}`]), 'posted', 'saved']
/** A request is on its way for a few ms: kills fall before, within and behind it. */
const MAX_KILL_DELAY_MS = 20

export interface LoopOptions {
  steps: number
  items: number
  kills: number
  seed: number
}

/** What a rank prints before and after each call. */
interface Moment {
  place: string
  moment: string
  kill: () => void
}

interface SavedShare {
  items: string[]
  totals: { groups: number; rollouts: number }
  groups: { id: string; item: string; indices: number[] }[]
}

export function createLoopLoad(options: LoopOptions): { load: Load; events: AsyncIterable<string> } {
  const { steps, items } = options
  const deadlineMs = 60_000 + 20_000 * steps // a rank that hangs is found by it
  const folder = mkdtempSync(join(tmpdir(), 'rgs-ranks-'))
  const moments = new EventEmitter()
  const over = new AbortController()
  /** Starts the rank until it has come to its end by itself. */
  const runRank = async (rank: number, url: string): Promise<void> => {
    const python = await requirePython(undefined)
    const program = join(import.meta.dirname, 'rank.py')
    const args = [program, url, folder, rank, RANKS, steps, items].map(String)
    for (;;) {
      const child = spawn(python, args, {
        env: buildChildEnvironment({ PYTHONDONTWRITEBYTECODE: '1' }),
        stdio: ['ignore', 'pipe', 'inherit'],
        signal: over.signal,
        killSignal: 'SIGKILL',
      })
      child.on('error', () => {}) // aborted: the end says so
      const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('close', (_, signal) => resolve(signal)))
      for await (const line of createInterface(child.stdout)) {
        if (!line.startsWith('{')) continue // what the loop prints
        const { moment, step } = JSON.parse(line) as { moment: string; step: number | null }
        const kill = () => child.kill('SIGKILL')
        moments.emit('moment', { place: `${step}/${rank}`, moment, kill } satisfies Moment)
      }
      const signal = await ended
      if (over.signal.aborted) throw new Error(`rank ${rank} was ended: ${String(over.signal.reason)}`)
      if (signal === 'SIGKILL') continue
      if (child.exitCode === 0) return
      over.abort(`rank ${rank} failed`) // the others would wait for it
      throw new Error(`rank ${rank} ended with ${child.exitCode}`)
    }
  }
  const load: Load = {
    async work({ fleet, ledger }) {
      const timer = setTimeout(() => over.abort(`not over after ${deadlineMs / 1000} s`), deadlineMs)
      const [url = ''] = fleet.urls
      const ranks = Array.from({ length: RANKS }, (_, rank) => runRank(rank, url))
      for (const end of await Promise.allSettled(ranks))
        if (end.status === 'rejected') ledger.addViolation(String(end.reason))
      clearTimeout(timer)
      moments.emit('end')
    },
    async settle({ client, ledger }) {
      const { progress } = (await client.request('GET', `/runs/${RUN}`)).body
      if (ledger.violations.length === 0) checkShares(ledger, folder, options)
      ledger.expectEqual('groups: items, and counted by the run', steps * items, progress.groups)
      ledger.expectEqual('groups: items, and scored by the run', steps * items, progress.scored_groups)
      ledger.entries.push(['steps', steps], ['groups', progress.groups])
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return { load, events: killAtMoments(moments, options) }
}

async function* killAtMoments(moments: EventEmitter, options: LoopOptions): AsyncGenerator<string> {
  const plan = planKills(options)
  const random = new SeededRandom(options.seed + 1)
  for await (const [{ place, moment, kill }] of on(moments, 'moment', { close: ['end'] }) as AsyncIterable<[Moment]>) {
    if (plan.get(place) !== moment) continue
    plan.delete(place)
    await sleep(random.between(0, MAX_KILL_DELAY_MS))
    kill()
    yield `step/rank ${place} was killed at "${moment}"`
  }
}

/** Which rank is killed in which step, at any of the moments. */
function planKills({ steps, kills, seed }: LoopOptions): Map<string, string> {
  const random = new SeededRandom(seed)
  const plan = new Map<string, string>()
  while (plan.size < Math.min(kills, steps * RANKS)) {
    const place = `${random.integerBelow(steps)}/${random.integerBelow(RANKS)}`
    if (!plan.has(place)) plan.set(place, random.pick(KILL_MOMENTS))
  }
  return plan
}

/** In each step all ranks had the same batch, each rollout once, and each item once; in all steps together, all items. */
function checkShares(ledger: Ledger, folder: string, { steps, items }: LoopOptions): void {
  const handedOut = new Set<string>()
  for (let step = 0; step < steps; step++) {
    const shares = Array.from(
      { length: RANKS },
      (_, rank) => JSON.parse(readFileSync(join(folder, `saved-${step}-${rank}.json`), 'utf8')) as SavedShare,
    )
    for (const item of shares.flatMap((share) => share.items)) handedOut.add(item)
    const totals = shares[0]?.totals ?? { groups: 0, rollouts: 0 }
    for (const share of shares)
      ledger.expectEqual(`step ${step}: batches of two ranks`, JSON.stringify(totals), JSON.stringify(share.totals))
    const groups = shares.flatMap((share) => share.groups)
    const rollouts = groups.flatMap(({ id, indices }) => indices.map((k) => `${id}/${k}`))
    const itemOf = new Map(groups.map(({ id, item }) => [id, item]))
    ledger.expectOnce(`step ${step}: rollout`, rollouts, rollouts)
    ledger.expectEqual(`step ${step}: rollouts`, totals.rollouts, rollouts.length)
    ledger.expectOnce(`step ${step}: item`, itemOf.values(), itemOf.values())
  }
  ledger.expectEqual('different items handed out', steps * items, handedOut.size)
}
