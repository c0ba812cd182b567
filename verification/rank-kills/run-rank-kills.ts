/** Three ranks train by the documented loop and are killed at chosen moments; what they trained on must come out as if they had not been. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildChildEnvironment } from '../../src/platform/process-env.ts'
import { SeededRandom } from '../chaos/seeded-random.ts'

const RANKS = 3
const RUN = 'by-steps' // as the page names it
const MOMENTS = [
  'items',
  'after items',
  'post',
  'after post',
  'posted',
  'batch',
  'after batch',
  'saved',
  'ack',
  'after ack',
]
/** A request is on its way for a few ms: kills fall before, within and behind it. */
const MAX_KILL_DELAY_MS = 20

export interface RankKillsOptions {
  url: string
  python: string
  steps: number
  items: number
  kills: number
  seed: number
  /** Of the whole run; a rank that hangs is found by it. */
  deadlineMs: number
}

export interface RankKillsReport {
  kills: number
  steps: number
  emptyBatches: number
  /** Of the run, as the server counts them. */
  groups: number
  items: number
  violations: string[]
}

interface SavedShare {
  items: string[]
  totals: { groups: number; sequences: number }
  groups: { id: string; item: string; indices: number[] }[]
}

/** Which rank is killed in which step, at any of the moments. */
function planKills({ steps, kills, seed }: RankKillsOptions): Map<string, string> {
  const random = new SeededRandom(seed)
  const plan = new Map<string, string>()
  while (plan.size < Math.min(kills, steps * RANKS)) {
    const place = `${random.integerBelow(steps)}/${random.integerBelow(RANKS)}`
    if (!plan.has(place)) plan.set(place, random.pick(MOMENTS))
  }
  return plan
}

export async function runRankKills(options: RankKillsOptions): Promise<RankKillsReport> {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-ranks-'))
  const plan = planKills(options)
  const random = new SeededRandom(options.seed + 1)
  let kills = 0
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), options.deadlineMs)
  try {
    const ranks = Array.from({ length: RANKS }, (_, rank) => runRank(rank))
    const ends = await Promise.allSettled(ranks)
    const violations = ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []))
    if (over.signal.aborted) violations.push(`not over after ${options.deadlineMs / 1000} s`)
    return await buildReport(options, folder, kills, violations)
  } finally {
    clearTimeout(timer)
    rmSync(folder, { recursive: true, force: true })
  }

  /** Starts the rank until it has come to its end by itself. */
  async function runRank(rank: number): Promise<void> {
    for (;;) {
      const { url, python, steps, items } = options
      const program = join(import.meta.dirname, 'rank.py')
      const args = [program, url, folder, rank, RANKS, steps, items].map(String)
      const env = buildChildEnvironment({ PYTHONDONTWRITEBYTECODE: '1' })
      const child = spawn(python, args, {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        signal: over.signal,
        killSignal: 'SIGKILL',
      })
      child.on('error', () => {}) // aborted: the end says so
      let errors = ''
      child.stderr.on('data', (chunk: Buffer) => {
        errors += chunk.toString()
      })
      const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('close', (_, signal) => resolve(signal)))
      for await (const line of createInterface(child.stdout)) {
        if (!line.startsWith('{')) continue // what the loop prints
        const { moment, step } = JSON.parse(line) as { moment: string; step: number | null }
        if (plan.get(`${step}/${rank}`) !== moment) continue
        plan.delete(`${step}/${rank}`)
        await sleep(random.between(0, MAX_KILL_DELAY_MS))
        child.kill('SIGKILL')
      }
      if ((await ended) === 'SIGKILL' && !over.signal.aborted) {
        kills++
        continue
      }
      if (child.exitCode !== 0) {
        over.abort() // the others would wait for it
        throw new Error(`rank ${rank} ended with ${child.exitCode}: ${errors.slice(-2000)}`)
      }
      return
    }
  }
}

async function buildReport(
  { url, steps, items }: RankKillsOptions,
  folder: string,
  kills: number,
  violations: string[],
): Promise<RankKillsReport> {
  const response = await fetch(`${url}/runs/${RUN}`)
  const { progress } = (await response.json()) as { progress: Record<string, number> }
  const report = { kills, steps, emptyBatches: 0, groups: progress.groups ?? 0, items: steps * items, violations }
  if (violations.length > 0) return report
  if (progress.groups !== report.items) violations.push(`${progress.groups} groups counted for ${report.items} items`)
  if (progress.scored_groups !== report.items) violations.push(`${progress.scored_groups} groups scored`)
  const handedOut = new Set<string>()
  for (let step = 0; step < steps; step++) {
    const shares = Array.from({ length: RANKS }, (_, rank) => readShare(folder, step, rank))
    for (const share of shares) for (const item of share.items) handedOut.add(item)
    violations.push(...checkBatch(step, shares))
    if (shares[0]?.totals.groups === 0) report.emptyBatches++
  }
  if (handedOut.size !== report.items) violations.push(`${handedOut.size} different items handed out`)
  return report
}

const readShare = (folder: string, step: number, rank: number) =>
  JSON.parse(readFileSync(join(folder, `saved-${step}-${rank}.json`), 'utf8')) as SavedShare

/** All ranks had the same batch, each rollout once, and each item once. */
function checkBatch(step: number, shares: SavedShare[]): string[] {
  const totals = new Set(shares.map((share) => JSON.stringify(share.totals)))
  if (totals.size > 1) return [`step ${step}: the ranks had different batches: ${[...totals].join(' ')}`]
  const groups = shares.flatMap((share) => share.groups)
  const rollouts = groups.flatMap(({ id, indices }) => indices.map((k) => `${id}/${k}`))
  const itemOf = new Map(groups.map(({ id, item }) => [id, item]))
  const [first] = shares
  const found: string[] = []
  if (new Set(rollouts).size !== rollouts.length) found.push(`step ${step}: a rollout is there twice`)
  if (rollouts.length !== first?.totals.sequences)
    found.push(`step ${step}: ${rollouts.length} rollouts of ${first?.totals.sequences}`)
  if (new Set(itemOf.values()).size !== itemOf.size) found.push(`step ${step}: an item is there twice`)
  return found
}
