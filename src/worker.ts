/** main: jobs only. Probes on WORKER_PORT. */
import { hostname } from 'node:os'
import { closeAtTheEnd } from './closing.ts'
import { placeOfRedis, readConfig } from './config.ts'
import { openLog } from './log.ts'
import { main } from './main.ts'
import { preparePython } from './prepare/python-environment.ts'
import { openService } from './service.ts'

await main(async () => {
  const config = readConfig()
  const log = openLog(config.LOG_LEVEL, 'worker')
  const python = await preparePython((line) => log.info(line), config.PYTHON)
  const service = openService(config, placeOfRedis(config), python, log)
  service.startWorker(`${hostname()}/${process.pid}`)
  closeAtTheEnd(log, () => service.close())
  process.send?.('listening')
})
