/** An eval or a collection while the server works on it: watched with a progress bar, cancelled by Ctrl-C. */
import { setTimeout as sleep } from 'node:timers/promises'
import { SingleBar } from 'cli-progress'
import { z } from 'zod'
import { Failure } from './failure.ts'
import { interruption, wasInterrupted } from './interrupt.ts'
import { tell } from './output.ts'
import type { Server } from './server.ts'

const Watched = z.looseObject({
  id: z.string(),
  status: z.enum(['queued', 'running', 'done', 'failed', 'cancelled']),
  waiting_for: z.string().nullish(),
  progress: z.looseObject({
    done: z.number(),
    total: z.number(),
    failed: z.number().default(0),
    mean_score: z.number().nullish(),
  }),
  detail: z.string().nullish(),
})
export type Watched = z.infer<typeof Watched>

const LOOK_EVERY_MS = 300
/** A server that restarts is waited for. */
const AWAY_MS = 120_000
const LINES_EVERY_MS = 10_000
const CANCEL_MS = 15_000

interface Watching {
  /** Where it is: `/eval/ID`. */
  path: string
  /** What is counted. */
  unit: string
  /** How to go on with it after a Ctrl-C. */
  resume: string
}

/** Resolves when it is over, whatever came of it. Ctrl-C cancels it, says how to go on, and throws. */
export async function watch(server: Server, { path, unit, resume }: Watching): Promise<Watched> {
  const bar = new SingleBar({
    format: `{bar} {value}/{total} ${unit} | {rate}/s | {left} left | mean {mean} | {failed} failed`,
    barsize: 24,
    hideCursor: true,
    noTTYOutput: true,
    notTTYSchedule: LINES_EVERY_MS,
    linewrap: false,
  })
  const first = await look(server, path)
  const began = performance.now()
  bar.start(first.progress.total, first.progress.done, facts(first, first, 0))
  try {
    for (let now = first; ; now = await look(server, path)) {
      bar.update(now.progress.done, facts(first, now, performance.now() - began))
      if (now.status !== 'queued' && now.status !== 'running') return now
      await sleep(LOOK_EVERY_MS, undefined, { signal: interruption() })
    }
  } catch (error) {
    bar.stop()
    if (wasInterrupted()) await cancel(server, path, { unit, resume })
    throw error
  } finally {
    bar.stop()
  }
}

async function look(server: Server, path: string): Promise<Watched> {
  for (const until = Date.now() + AWAY_MS; ; await sleep(1000, undefined, { signal: interruption() })) {
    try {
      return await server.call(Watched, 'GET', path)
    } catch (error) {
      if (!(error instanceof Failure && error.isPassing) || Date.now() > until) throw error
    }
  }
}

function facts(first: Watched, { progress, waiting_for }: Watched, ms: number): Record<string, string | number> {
  const rate = ms > 0 ? ((progress.done - first.progress.done) / ms) * 1000 : 0
  return {
    rate: rate.toFixed(rate < 10 ? 1 : 0),
    left: waiting_for
      ? `waits for the ${waiting_for},`
      : rate > 0
        ? duration((progress.total - progress.done) / rate)
        : '?',
    mean: progress.mean_score?.toFixed(3) ?? '–',
    failed: progress.failed,
  }
}

function duration(seconds: number): string {
  const s = Math.ceil(seconds)
  if (s < 60) return `${s} s`
  return s < 3600
    ? `${Math.floor(s / 60)} min ${s % 60} s`
    : `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`
}

/** In spite of the Ctrl-C that all other calls heed. */
async function cancel(server: Server, path: string, { unit, resume }: Omit<Watching, 'path'>): Promise<void> {
  try {
    const { progress } = await server.call(Watched, 'DELETE', path, undefined, AbortSignal.timeout(CANCEL_MS))
    tell(`Cancelled: ${progress.done} of ${progress.total} ${unit} are kept. Go on with:\n  ${resume}`)
  } catch (error) {
    tell(
      `It could not be cancelled (${error instanceof Error ? error.message : String(error)}). Look at it again with:\n  ${resume}`,
    )
  }
}
