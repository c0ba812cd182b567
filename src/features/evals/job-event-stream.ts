/** Streams the events of a generation job as server-sent events, with IDs to resume from, heartbeats and an end. */
import { isActive } from '../../contract/eval.ts'
import { pause } from '../../platform/retry.ts'
import type { GenerationJobRepository } from './generation-job-repository.ts'

const POLL_INTERVAL_MS = 300
const HEARTBEAT_INTERVAL_MS = 15_000
/** Time after which the client must reconnect with the ID of the last event that it has. */
const MAX_STREAM_MS = 60 * 60_000

/** Streams events until the result. `lastEventId` is the ID of the last event that the client has, or ''. */
export async function* streamJobEvents(
  repository: GenerationJobRepository,
  jobId: string,
  lastEventId: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let after = lastEventId
  let lastSentAt = performance.now()
  const deadline = lastSentAt + MAX_STREAM_MS
  yield 'retry: 2000\n\n'
  while (!signal.aborted && performance.now() < deadline) {
    const events = await repository.listEvents(jobId, after)
    for (const { id, event, data } of events) {
      yield `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
      after = id
      if (event === 'result' && !isActive(await repository.getStatus(jobId))) return // otherwise it was resumed since
    }
    if (events.length > 0) {
      lastSentAt = performance.now()
    } else {
      const hasEnded = !isActive(await repository.getStatus(jobId))
      if (hasEnded && (await repository.listEvents(jobId, after)).length === 0) return
      if (performance.now() - lastSentAt > HEARTBEAT_INTERVAL_MS) {
        yield ': heartbeat\n\n'
        lastSentAt = performance.now()
      }
    }
    await pause(POLL_INTERVAL_MS, signal)
  }
}
