/** Starts or resumes an eval or a collection, follows it with a progress bar, and cancels it on Ctrl-C. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type GenerationJobStatus, GenerationProgress, isActive } from '@reasoning-gym-server/contract/generation-job'
import { SingleBar } from 'cli-progress'
import { z } from 'zod'
import type { ApiClient } from './api-client.ts'
import { CliError } from './cli-error.ts'
import { getInterruptSignal, wasInterrupted } from './interrupt-signal.ts'
import type { JobOptions } from './options.ts'
import { printJson, printLine, printStatus } from './output.ts'

/** What evals and collections have in common. */
interface JobView {
  status: GenerationJobStatus
  progress: z.infer<typeof GenerationProgress>
  detail: string | null
  /** What a collection waits for. */
  waiting_for?: string | null
}

const StartedJob = z.object({ id: z.string() })
const CancelledJob = z.object({ progress: GenerationProgress })

const POLL_INTERVAL_MS = 300
/** How long to wait for an unreachable server, for example during a restart. */
const UNREACHABLE_TIMEOUT_MS = 120_000
const PROGRESS_LINE_INTERVAL_MS = 10_000
const CANCEL_TIMEOUT_MS = 15_000

export interface JobParams<View extends JobView> {
  /** What the job is called: `eval` or `collection`. */
  name: string
  /** Path of the list that holds the job, such as `/eval`. */
  path: string
  view: z.ZodType<View>
  /** Body of a new job, or of the request that resumes one. */
  body: object
  /** Command that resumes the job, without its ID. */
  resumeCommand: string
  options: JobOptions
  print: (view: View) => Promise<void>
}

/**
 * Prints the job when it has ended, and returns it; undefined with `detach`. Throws if the job did not finish. On Ctrl-C,
 * cancels the job, prints the command that resumes it, and throws.
 */
export async function followJob<View extends JobView>(
  server: ApiClient,
  params: JobParams<View>,
): Promise<View | undefined> {
  const { name, path, body, options } = params
  const { resume, detach, json } = options
  const start = resume === undefined ? path : `${path}/${encodeURIComponent(resume)}/resume`
  const started = await server.callWithRetry(StartedJob, 'POST', start, body)
  const { id } = started
  if (detach) {
    await (json ? printJson(started) : printLine(id))
    return undefined
  }
  printStatus(`${name.charAt(0).toUpperCase()}${name.slice(1)} ${id}`)
  const job = await watchJob(server, id, params)
  await (json ? printJson(job) : params.print(job))
  if (job.status !== 'done')
    throw new CliError(`The ${name} did not finish. Its status is ${job.status}${job.detail ? `: ${job.detail}` : ''}`)
  return job
}

async function watchJob<View extends JobView>(
  server: ApiClient,
  id: string,
  { path, view, resumeCommand }: JobParams<View>,
): Promise<View> {
  const bar = new SingleBar({
    format: '{bar} {value}/{total} samples | {rate}/s | {left} left | mean score {mean} | {failed} failed',
    barsize: 24,
    hideCursor: true,
    noTTYOutput: true,
    notTTYSchedule: PROGRESS_LINE_INTERVAL_MS,
    linewrap: false,
  })
  const place = `${path}/${id}`
  const first = await pollJob(server, place, view)
  const began = performance.now()
  bar.start(first.progress.total, first.progress.done, formatProgress(first, first, 0))
  try {
    for (let now = first; ; now = await pollJob(server, place, view)) {
      bar.update(now.progress.done, formatProgress(first, now, performance.now() - began))
      if (!isActive(now.status)) return now
      await sleep(POLL_INTERVAL_MS, undefined, { signal: getInterruptSignal() })
    }
  } catch (error) {
    bar.stop()
    if (wasInterrupted()) await cancelJob(server, place, `${resumeCommand} ${id}${server.options}`)
    throw error
  } finally {
    bar.stop()
  }
}

async function pollJob<View>(server: ApiClient, path: string, view: z.ZodType<View>): Promise<View> {
  const until = Date.now() + UNREACHABLE_TIMEOUT_MS
  for (;;) {
    try {
      return await server.call(view, 'GET', path)
    } catch (error) {
      if (!(error instanceof CliError && error.isTransient) || Date.now() > until) throw error
    }
    await sleep(1000, undefined, { signal: getInterruptSignal() })
  }
}

function formatProgress(
  first: JobView,
  { progress, waiting_for }: JobView,
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
async function cancelJob(server: ApiClient, path: string, resume: string): Promise<void> {
  try {
    const { progress } = await server.call(
      CancelledJob,
      'DELETE',
      path,
      undefined,
      AbortSignal.timeout(CANCEL_TIMEOUT_MS),
    )
    printStatus(
      `Cancelled. The server keeps ${progress.done} of ${progress.total} samples. To continue, run:\n  ${resume}`,
    )
  } catch (error) {
    printStatus(
      `Could not cancel the job on the server: ${error instanceof Error ? error.message : String(error)}\nTo watch it again, run:\n  ${resume}`,
    )
  }
}
