/** main: jobs only, with probes and metrics on WORKER_PORT. */
import './heap.ts'
import { hostname } from 'node:os'
import { closeAtTheEnd } from './closing.ts'
import { placeOfRedis, readConfig } from './config.ts'
import { openLog } from './log.ts'
import { main } from './main.ts'
import { claimOneEngine } from './one-engine.ts'
import { preparePython } from './prepare/python-environment.ts'
import { openProbes } from './probes.ts'
import { tellIfRedisIsAway } from './redis-away.ts'
import { openService } from './service.ts'

await main(async () => {
  const config = readConfig()
  const log = openLog(config.LOG_LEVEL, 'worker')
  const say = (line: string) => log.info(line)
  const python = await preparePython(say, config.PYTHON, (line) => log.warn(line))
  const place = placeOfRedis(config)
  if (!process.connected) void tellIfRedisIsAway(place.url, log) // `npm start` says it for all of its processes
  const service = openService(config, place, python, log, 'worker')
  const claim = await claimOneEngine(service, log)
  service.startWorker(`${hostname()}/${process.pid}`)
  // Started by `npm start` it is one of several on this machine, and seen through the API's port.
  const probes = process.connected ? undefined : await openProbes(service, config, log)
  closeAtTheEnd(log, async () => {
    await probes?.close()
    await claim.close()
    await service.close()
  })
  process.send?.('listening')
})
