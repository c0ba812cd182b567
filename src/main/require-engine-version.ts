/** For the mains: a server does not share its Redis with one of another engine version. */
import { hostname } from 'node:os'
import type { EngineVersionClaim } from '../features/operations/engine-version-claim.ts'
import { StartupError } from './bootstrap/startup-error.ts'
import type { WorkerService } from './compose.ts'

export async function requireEngineVersionClaim({
  platform: { log },
  engine: { version },
  features: { operations },
}: WorkerService): Promise<EngineVersionClaim> {
  const refusal = (other: string) =>
    `This Redis serves reasoning-gym ${other}, and this server has ${version}: stop the other servers, or set REDIS_PREFIX to another name`
  let seen = ''
  const claim = await operations.claimEngineVersion({
    processName: `${hostname()}/${process.pid}`,
    onConflict(other) {
      if (seen !== other) log.warn(`waiting for servers with reasoning-gym ${other} to end`)
      seen = other
    },
    onClaimLost(other) {
      log.fatal(refusal(other))
      process.kill(process.pid, 'SIGTERM')
    },
  })
  if (!claim) throw new StartupError(refusal(seen))
  return claim
}
