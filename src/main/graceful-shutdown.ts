/** Shuts a process down: finishes work in flight, then exits. A second signal or the end of the grace period exits at once. */
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import { watchParent } from './bootstrap/child-lifetime.ts'

const SHUTDOWN_GRACE_MS = 15_000

export function closeOnShutdown(log: Logger, close: () => Promise<void>): void {
  closeWithGrace({ delay: SHUTDOWN_GRACE_MS, logger: false }, async ({ err }) => {
    if (err) log.error({ err }, 'shutting down after an error')
    await close()
  })
  watchParent(() => process.kill(process.pid, 'SIGTERM'))
}
