/** The events of an eval or collection as server-sent events: with ids to resume from, heartbeats, and an end. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { GenerationJobRepository } from './generation-job-repository.ts'

const POLL_INTERVAL_MS = 300
const HEARTBEAT_INTERVAL_MS = 15_000
/** Then the client comes again, with the id of the last event it has. */
const MAX_STREAM_MS = 60 * 60_000

/** Ends after the result; `last` is the id of the last event that the client has, or ''. */
export async function* streamJobEvents(
  samplings: GenerationJobRepository,
  id: string,
  last: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let after = last
  let spoke = performance.now()
  const until = spoke + MAX_STREAM_MS
  yield 'retry: 2000\n\n'
  while (!signal.aborted && performance.now() < until) {
    const events = await samplings.listEvents(id, after)
    for (const { id: at, event, data } of events) {
      yield `id: ${at}\nevent: ${event}\ndata: ${data}\n\n`
      after = at
      if (event === 'result') {
        const status = await samplings.getStatus(id)
        if (status !== 'running' && status !== 'queued') return // else it was resumed since
      }
    }
    if (events.length > 0) {
      spoke = performance.now()
    } else {
      const status = await samplings.getStatus(id)
      if (status !== 'running' && status !== 'queued' && (await samplings.listEvents(id, after)).length === 0) return
      if (performance.now() - spoke > HEARTBEAT_INTERVAL_MS) {
        yield ': still here\n\n'
        spoke = performance.now()
      }
    }
    await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => {})
  }
}
