/** The events of an eval or collection as server-sent events: with ids to resume from, heartbeats, and an end. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Samplings } from '../store/samplings.ts'

const LOOK_EVERY_MS = 300
const HEARTBEAT_MS = 15_000
/** Then the client comes again, with the id of the last event it has. */
const LONGEST_MS = 60 * 60_000

/** Ends after the result; `last` is the id of the last event that the client has, or ''. */
export async function* eventStream(
  samplings: Samplings,
  id: string,
  last: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let after = last
  let spoke = performance.now()
  const until = spoke + LONGEST_MS
  yield 'retry: 2000\n\n'
  while (!signal.aborted && performance.now() < until) {
    const events = await samplings.events(id, after)
    for (const { id: at, event, data } of events) {
      yield `id: ${at}\nevent: ${event}\ndata: ${data}\n\n`
      after = at
      if (event === 'result') {
        const status = await samplings.status(id)
        if (status !== 'running' && status !== 'queued') return // else it was resumed since
      }
    }
    if (events.length > 0) {
      spoke = performance.now()
    } else {
      const status = await samplings.status(id)
      if (status !== 'running' && status !== 'queued' && (await samplings.events(id, after)).length === 0) return
      if (performance.now() - spoke > HEARTBEAT_MS) {
        yield ': still here\n\n'
        spoke = performance.now()
      }
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
  }
}
