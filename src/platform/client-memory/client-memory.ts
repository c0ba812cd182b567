/** Limits the memory that clients can make this process hold, for request bodies and for replies. */
import type { Logger } from 'pino'
import type { ServerConfig } from '../environment.ts'
import type { MetricsRecorder } from '../metrics/metrics-recorder.ts'
import { throttledLog } from '../throttled-log.ts'
import { BodyMemoryLimiter } from './body-memory-limiter.ts'
import { ReplyMemoryLimiter } from './reply-memory-limiter.ts'

/** Ratio of the wait for memory to the time that a slow client gets. */
const WAIT_FACTOR = 3

export interface ClientMemory {
  bodies: BodyMemoryLimiter
  replies: ReplyMemoryLimiter
  close(): void
}

export type ClientMemoryConfig = Pick<ServerConfig, 'BODIES_MAX_BYTES' | 'REPLIES_MAX_BYTES' | 'SLOW_CLIENT_S'>

export function createClientMemory(
  { BODIES_MAX_BYTES, REPLIES_MAX_BYTES, SLOW_CLIENT_S }: ClientMemoryConfig,
  log: Logger,
  { slowClients }: Pick<MetricsRecorder, 'slowClients'>,
): ClientMemory {
  const slowMs = SLOW_CLIENT_S * 1000
  const waitMs = WAIT_FACTOR * slowMs
  const warn = throttledLog((what, suppressed) => log.warn({ suppressed }, String(what)))
  const onSlow = (direction: 'in' | 'out', what: string) => () => {
    slowClients.inc({ direction })
    warn(what)
  }
  const bodies = new BodyMemoryLimiter({
    limitBytes: BODIES_MAX_BYTES,
    waitMs,
    slowMs,
    onSlow: onSlow('in', 'Dropped a client that sent its body too slowly'),
  })
  const replies = new ReplyMemoryLimiter({
    limitBytes: REPLIES_MAX_BYTES,
    waitMs,
    slowMs,
    onSlow: onSlow('out', 'Dropped a client that took its reply too slowly, while others waited for the memory'),
  })
  const close = () => {
    bodies.close()
    replies.close()
  }
  return { bodies, replies, close }
}
