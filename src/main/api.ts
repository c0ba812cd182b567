/** Entry point of an API process: HTTP only. Workers score what clients post here, unless SMALL makes it a worker as well. */
import '../http/connections/v8-flags.ts'
import type { App } from '../http/app.ts'
import { assertKeysOrLoopback, type KeyRing, loadKeyRing, watchKeyFile } from '../http/auth/key-ring.ts'
import { getConnectionLimit, readOpenFilesLimit } from '../http/connections/connection-limit.ts'
import { allowLateRequests, type ListenAddress, listen } from '../http/connections/listening.ts'
import { RateLimiter, resolveRateLimits, shareUsage } from '../http/rate-limit.ts'
import { readConfig, requireRedisConfig } from '../platform/environment.ts'
import { createLogger } from '../platform/log.ts'
import { joinProcessGroup, scrapeProcessGroup } from '../platform/metrics/process-group.ts'
import { createProcessIdentity } from '../platform/process-state.ts'
import { releaseStartupMemory } from '../platform/startup-memory.ts'
import { startTelemetry } from '../platform/telemetry/telemetry.ts'
import { ensurePythonEnvironment } from './bootstrap/python/python-environment.ts'
import { createListenError } from './bootstrap/startup-report.ts'
import { composeApi } from './compose.ts'
import { createApp } from './create-app.ts'
import { resolveListenAddress } from './listening-sockets.ts'
import { closeOnShutdown, runChildMain } from './run-main.ts'
import { startWorker } from './start-worker.ts'
import { requireEngineVersionClaim, requireRedis, requireStorageFormat } from './storage-checks.ts'

await runChildMain(async () => {
  const config = readConfig()
  const log = createLogger(config.LOG_LEVEL, 'api')
  const keyRing = loadKeyRing(config)
  assertKeysOrLoopback(config, keyRing)
  const report = (message: string) => log.info(message)
  const warn = process.connected ? () => {} : (line: string) => log.warn(line) // `npm start` has warned
  const python = await ensurePythonEnvironment(report, config.PYTHON, warn)
  const redis = requireRedisConfig(config)
  if (!process.connected) await requireRedis(redis, log) // `npm start` does so for all of its processes
  const telemetry = await startTelemetry(config, createProcessIdentity('api'), log)
  // Under `npm start` it shares the port with other processes and serves the metrics of all of them.
  const service = composeApi({
    config,
    redis,
    python,
    log,
    tracing: telemetry?.tracing,
    scrapeProcessGroup: process.connected ? scrapeProcessGroup : undefined,
  })
  const { platform } = service
  if (process.connected) joinProcessGroup(platform.recorder.registry)
  await requireStorageFormat(service)
  const claim = await requireEngineVersionClaim(service)
  const rateLimits = resolveRateLimits(config, keyRing !== undefined)
  const rateLimiter = new RateLimiter(rateLimits, shareUsage(platform.redis, platform.keys))
  const openFiles = readOpenFilesLimit()
  const app = await createApp(service, {
    keyRing,
    rateLimiter,
    corsOrigins: config.CORS_ORIGINS,
    trustProxy: config.TRUST_PROXY,
    maxConnections: openFiles && getConnectionLimit(openFiles),
  })
  const worker = config.SMALL ? startWorker(service) : undefined
  const stopWatchingKeys = keyRing ? watchKeyFile(keyRing, config, log) : () => {}
  closeOnShutdown(log, async () => {
    stopWatchingKeys()
    rateLimiter.close()
    await app.close()
    await claim.close()
    await worker?.close()
    await service.close()
    await telemetry?.close()
  })
  // Several API processes share the port, and any of them may accept a connection: each joins once it can answer.
  if (config.API_PROCESSES > 1 && !config.SMALL) await service.engine.waitUntilStarted()
  await listenOrExplain(app, resolveListenAddress(config), keyRing)
  process.on('message', (message, connection) => {
    if (message === 'replaced' && !worker) allowLateRequests() // a worker needs the time for its jobs
    if (message !== 'connection') return // which another API process left waiting
    process.send?.('accepted', undefined, undefined, () => {}) // before it is read: if this process ends, no other one gets it
    app.server.emit('connection', connection)
  })
  process.send?.('listening')
  await service.engine.waitUntilStarted()
  await service.features.tasks.tasks.loadRegistry()
  process.send?.('started')
  releaseStartupMemory()
})

async function listenOrExplain(app: App, address: ListenAddress, keyRing: KeyRing | undefined): Promise<void> {
  const found = await listen(app, address).catch((cause: unknown) => {
    throw createListenError(address, cause)
  })
  // An inherited socket may have another address than HOST.
  for (const at of found) if (typeof at === 'object' && at) assertKeysOrLoopback({ HOST: at.address }, keyRing)
}
