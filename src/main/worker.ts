/** Entry point of a worker process: jobs only, with probes and metrics on WORKER_PORT. */
import '../http/connections/v8-flags.ts'
import { readConfig, requireRedisConfig } from '../platform/environment.ts'
import { createLogger } from '../platform/log.ts'
import { joinProcessGroup } from '../platform/metrics/process-group.ts'
import { createProcessIdentity } from '../platform/process-state.ts'
import { releaseStartupMemory } from '../platform/startup-memory.ts'
import { startTelemetry } from '../platform/telemetry/telemetry.ts'
import { ensurePythonEnvironment } from './bootstrap/python/python-environment.ts'
import { composeWorker } from './compose.ts'
import { closeOnShutdown, runChildMain } from './run-main.ts'
import { startWorker } from './start-worker.ts'
import { requireEngineVersionClaim, requireRedis, requireStorageFormat } from './storage-checks.ts'

await runChildMain(async () => {
  const config = readConfig()
  const log = createLogger(config.LOG_LEVEL, 'worker')
  const report = (message: string) => log.info(message)
  const warn = process.connected ? () => {} : (line: string) => log.warn(line) // `npm start` has warned
  const python = await ensurePythonEnvironment(report, config.PYTHON, warn)
  const redis = requireRedisConfig(config)
  if (!process.connected) await requireRedis(redis, log) // `npm start` does so for all of its processes
  const telemetry = await startTelemetry(config, createProcessIdentity('worker'), log)
  const service = composeWorker({ config, redis, python, log, tracing: telemetry?.tracing })
  await requireStorageFormat(service)
  const claim = await requireEngineVersionClaim(service)
  const worker = startWorker(service)
  // Under `npm start` its metrics are available on the API's port, and it loads no HTTP server.
  if (process.connected) joinProcessGroup(service.platform.recorder.registry)
  const probeModule = process.connected ? undefined : await import('./probe-server.ts')
  const probes = await probeModule?.startProbeServer(service.features.operations, config, log)
  closeOnShutdown(log, async () => {
    await probes?.close()
    await claim.close()
    await worker.close()
    await service.close()
    await telemetry?.close()
  })
  process.send?.('listening')
  await service.engine.waitUntilStarted()
  await service.features.tasks.tasks.loadRegistry()
  process.send?.('started')
  releaseStartupMemory()
})
