/** main: HTTP only. Workers elsewhere score what is posted here. */
import './heap.ts'
import { followKeyFile, openKeyRing } from './access/key-ring.ts'
import { assertGuarded } from './access/loopback.ts'
import { limitsOf, Meter } from './access/meter.ts'
import { buildApp } from './app.ts'
import { closeAtTheEnd } from './closing.ts'
import { placeOfRedis, readConfig } from './config.ts'
import { listen, SPREAD } from './listen.ts'
import { openLog } from './log.ts'
import { main } from './main.ts'
import { claimOneEngine } from './one-engine.ts'
import { preparePython } from './prepare/python-environment.ts'
import { tellIfRedisIsAway } from './redis-away.ts'
import { openService } from './service.ts'
import { addSpent } from './store/spent.ts'

await main(async () => {
  const config = readConfig()
  const log = openLog(config.LOG_LEVEL, 'api')
  const keys = openKeyRing(config)
  assertGuarded(config, keys)
  const say = (line: string) => log.info(line)
  const python = await preparePython(say, config.PYTHON, (line) => log.warn(line))
  const place = placeOfRedis(config)
  if (!process.connected) void tellIfRedisIsAway(place.url, log) // `npm start` says it for all of its processes
  const service = openService(config, place, python, log)
  const claim = await claimOneEngine(service, log)
  const meter = new Meter(limitsOf(config, keys !== undefined), (minute, caller, more) =>
    addSpent(service.redis, service.keys, minute, caller, more),
  )
  const wire = { keys, meter, corsOrigins: config.CORS_ORIGINS, trustProxy: config.TRUST_PROXY }
  const app = await buildApp(service, log, wire)
  const unfollow = keys ? followKeyFile(keys, config, log) : () => {}
  closeAtTheEnd(log, async () => {
    unfollow()
    meter.close()
    await app.close()
    await claim.close()
    await service.close()
  })
  // Several API processes share the port and the kernel spreads connections over them: each joins once it can answer.
  if (config.API_PROCESSES > 1) await service.engine.started()
  await listen(app, { host: config.HOST, port: config.PORT })
  process.on('message', (word) => word === SPREAD && app.spread())
  process.send?.('listening')
})
