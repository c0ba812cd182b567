/** For the mains: a server does not share its Redis with one of another engine version. */
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { PrepareError } from './prepare/prepare-error.ts'
import type { Service } from './service.ts'
import { claimEngine, type EngineClaim } from './store/engine-claim.ts'

export async function claimOneEngine({ redis, keys, engine }: Service, log: Logger): Promise<EngineClaim> {
  const { version } = engine
  const refusal = (other: string) =>
    `This Redis serves reasoning-gym ${other}, and this server has ${version}: stop the other servers, or set REDIS_PREFIX to another name`
  let seen = ''
  const claim = await claimEngine(redis, keys, {
    version,
    name: `${hostname()}/${process.pid}`,
    onWait(other) {
      if (seen !== other) log.warn(`waiting for servers with reasoning-gym ${other} to end`)
      seen = other
    },
    onLost(other) {
      log.fatal(refusal(other))
      process.kill(process.pid, 'SIGTERM')
    },
  })
  if (!claim) throw new PrepareError(refusal(seen))
  return claim
}
