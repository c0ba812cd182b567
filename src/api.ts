/** main: HTTP only. Workers elsewhere score what is posted here. */
import './heap.ts'
import { loadKeyRing, watchKeyFile } from './access/key-ring.ts'
import { assertKeysOrLoopback } from './access/loopback.ts'
import { RateLimiter, resolveRateLimits } from './access/meter.ts'
import { buildApp } from './app.ts'
import { closeOnShutdown } from './closing.ts'
import { readConfig, requireRedisConfig } from './config.ts'
import { listen, REBALANCE_MESSAGE } from './listen.ts'
import { createLogger } from './log.ts'
import { runMain } from './main.ts'
import { requireEngineVersionClaim } from './one-engine.ts'
import { ensurePythonEnvironment } from './prepare/python-environment.ts'
import { warnIfRedisUnreachable } from './redis-away.ts'
import { createServices } from './service.ts'
import { addUsage } from './store/spent.ts'

await runMain(async () => {
  const config = readConfig()
  const log = createLogger(config.LOG_LEVEL, 'api')
  const keys = loadKeyRing(config)
  assertKeysOrLoopback(config, keys)
  const say = (line: string) => log.info(line)
  const python = await ensurePythonEnvironment(say, config.PYTHON, (line) => log.warn(line))
  const place = requireRedisConfig(config)
  if (!process.connected) void warnIfRedisUnreachable(place.url, log) // `npm start` says it for all of its processes
  const service = createServices(config, place, python, log)
  const claim = await requireEngineVersionClaim(service, log)
  const meter = new RateLimiter(resolveRateLimits(config, keys !== undefined), (minute, caller, more) =>
    addUsage(service.redis, service.redisKeys, minute, caller, more),
  )
  const wire = { keys, meter, corsOrigins: config.CORS_ORIGINS, trustProxy: config.TRUST_PROXY }
  const app = await buildApp(service, log, wire)
  const unfollow = keys ? watchKeyFile(keys, config, log) : () => {}
  closeOnShutdown(log, async () => {
    unfollow()
    meter.close()
    await app.close()
    await claim.close()
    await service.close()
  })
  // Several API processes share the port and the kernel spreads connections over them: each joins once it can answer.
  if (config.API_PROCESSES > 1) await service.engine.waitUntilStarted()
  await listen(app, { host: config.HOST, port: config.PORT })
  process.on('message', (word) => word === REBALANCE_MESSAGE && app.rebalanceConnections())
  process.send?.('listening')
})
