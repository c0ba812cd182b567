/** Prevents servers with different engine versions from sharing a Redis. */
import type { EngineVersionClaim } from '../features/operations/engine-version-claim.ts'
import { StartupError } from './bootstrap/startup-error.ts'
import type { WorkerService } from './compose.ts'

export async function requireEngineVersionClaim({
  platform: { log, identity },
  engine: { version },
  features: { operations },
}: WorkerService): Promise<EngineVersionClaim> {
  const conflictMessage = (otherVersion: string) =>
    `Process ${lastProcessSeen} uses this Redis with reasoning-gym ${otherVersion}, but this server has ${version}. Stop the other servers, or set REDIS_PREFIX to another name.`
  let lastVersionSeen = ''
  let lastProcessSeen = ''
  const claim = await operations.claimEngineVersion({
    processName: identity.process,
    onConflict(otherVersion, otherProcess) {
      if (lastVersionSeen !== otherVersion)
        log.warn(`waiting for process ${otherProcess} with reasoning-gym ${otherVersion} to end. Stop that server`)
      lastVersionSeen = otherVersion
      lastProcessSeen = otherProcess
    },
    onClaimLost(otherVersion, otherProcess) {
      lastProcessSeen = otherProcess
      log.fatal(conflictMessage(otherVersion))
      process.kill(process.pid, 'SIGTERM')
    },
  })
  if (!claim) throw new StartupError(conflictMessage(lastVersionSeen))
  return claim
}
