/** Shuts a process down: finishes work in flight, then exits. A second signal or the end of the grace period exits at once. */
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'

const SHUTDOWN_GRACE_MS = 15_000

export function closeOnShutdown(log: Logger, close: () => Promise<void>): void {
  closeWithGrace({ delay: SHUTDOWN_GRACE_MS, logger: false }, async ({ err }) => {
    if (err) log.error({ err }, 'shutting down after an error')
    await close()
  })
  // A child process ends with its parent, even if the parent was killed.
  if (process.connected) process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
}
