/** Watches an eval, duel or collection with a progress bar, and cancels it on Ctrl-C. */
import { setTimeout as sleep } from 'node:timers/promises'
import { SingleBar } from 'cli-progress'
import { z } from 'zod'
import type { ApiClient } from './api-client.ts'
import { CliError } from './cli-error.ts'
import { getInterruptSignal, wasInterrupted } from './interrupt-signal.ts'
import { printStatus } from './output.ts'

const GenerationJobResponse = z.looseObject({
  id: z.string(),
  status: z.string(),
  waiting_for: z.string().nullish(),
  progress: z.looseObject({
    done: z.number(),
    total: z.number(),
    failed: z.number().default(0),
    mean_score: z.number().nullish(),
  }),
  detail: z.string().nullish(),
})
export type GenerationJobResponse = z.infer<typeof GenerationJobResponse>

const ACTIVE_STATUSES = new Set(['queued', 'running'])
const POLL_INTERVAL_MS = 300
/** How long to wait for an unreachable server, for example during a restart. */
const UNREACHABLE_TIMEOUT_MS = 120_000
const PROGRESS_LINE_INTERVAL_MS = 10_000
const CANCEL_TIMEOUT_MS = 15_000

interface WatchJobParams {
  /** Path of the job, such as `/eval/ID`. */
  path: string
  /** Name of the unit that the progress counts. */
  unit: string
  /** Command that resumes the job after a Ctrl-C. */
  resume: string
}

/** Resolves when the job ends, whatever its status. On Ctrl-C, cancels the job, prints the command that resumes it, and throws. */
export async function watchGenerationJob(
  server: ApiClient,
  { path, unit, resume }: WatchJobParams,
): Promise<GenerationJobResponse> {
  const bar = new SingleBar({
    format: `{bar} {value}/{total} ${unit} | {rate}/s | {left} left | mean score {mean} | {failed} failed`,
    barsize: 24,
    hideCursor: true,
    noTTYOutput: true,
    notTTYSchedule: PROGRESS_LINE_INTERVAL_MS,
    linewrap: false,
  })
  const first = await pollGenerationJob(server, path)
  const began = performance.now()
  bar.start(first.progress.total, first.progress.done, formatProgress(first, first, 0))
  try {
    for (let now = first; ; now = await pollGenerationJob(server, path)) {
      bar.update(now.progress.done, formatProgress(first, now, performance.now() - began))
      if (!ACTIVE_STATUSES.has(now.status)) return now
      await sleep(POLL_INTERVAL_MS, undefined, { signal: getInterruptSignal() })
    }
  } catch (error) {
    bar.stop()
    if (wasInterrupted()) await cancelGenerationJob(server, path, { unit, resume })
    throw error
  } finally {
    bar.stop()
  }
}

async function pollGenerationJob(server: ApiClient, path: string): Promise<GenerationJobResponse> {
  for (
    const until = Date.now() + UNREACHABLE_TIMEOUT_MS;
    ;
    await sleep(1000, undefined, { signal: getInterruptSignal() })
  ) {
    try {
      return await server.call(GenerationJobResponse, 'GET', path)
    } catch (error) {
      if (!(error instanceof CliError && error.isTransient) || Date.now() > until) throw error
    }
  }
}

function formatProgress(
  first: GenerationJobResponse,
  { progress, waiting_for }: GenerationJobResponse,
  ms: number,
): Record<string, string | number> {
  const rate = ms > 0 ? ((progress.done - first.progress.done) / ms) * 1000 : 0
  return {
    rate: rate.toFixed(rate < 10 ? 1 : 0),
    left: waiting_for
      ? `waiting for the ${waiting_for},`
      : rate > 0
        ? formatDuration((progress.total - progress.done) / rate)
        : '?',
    mean: progress.mean_score?.toFixed(3) ?? '–',
    failed: progress.failed,
  }
}

function formatDuration(seconds: number): string {
  const s = Math.ceil(seconds)
  if (s < 60) return `${s} s`
  return s < 3600
    ? `${Math.floor(s / 60)} min ${s % 60} s`
    : `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`
}

/** Cancels the job. Unlike all other calls, this one ignores the Ctrl-C. */
async function cancelGenerationJob(
  server: ApiClient,
  path: string,
  { unit, resume }: Omit<WatchJobParams, 'path'>,
): Promise<void> {
  try {
    const { progress } = await server.call(
      GenerationJobResponse,
      'DELETE',
      path,
      undefined,
      AbortSignal.timeout(CANCEL_TIMEOUT_MS),
    )
    printStatus(
      `Cancelled. The server keeps ${progress.done} of ${progress.total} ${unit}. To continue, run:\n  ${resume}`,
    )
  } catch (error) {
    printStatus(
      `Could not cancel the job on the server: ${error instanceof Error ? error.message : String(error)}\nTo watch it again, run:\n  ${resume}`,
    )
  }
}
