/** The end of a process: what is in hand is finished, then it goes; a second signal or the grace period ends it at once. */
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'

const SHUTDOWN_GRACE_MS = 15_000

export function closeOnShutdown(log: Logger, close: () => Promise<void>): void {
  closeWithGrace({ delay: SHUTDOWN_GRACE_MS, logger: false }, async ({ err }) => {
    if (err) log.error({ err }, 'ending after an error')
    await close()
  })
  // A server started by another ends with it, even if that was killed.
  if (process.connected) process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
}
