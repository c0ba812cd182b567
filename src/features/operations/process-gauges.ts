/** The gauges of this process: its version, its engine and its view of Redis. They are read during a scrape. */
import type { Redis } from 'ioredis'
import type { Registry } from 'prom-client'
import type { Engine } from '../../engine/engine.ts'
import { VERSION } from '../../platform/installation.ts'
import { createCounter, createGauge } from '../../platform/metrics/metric-definitions.ts'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import type { ClientMemory } from '../../platform/platform.ts'
import type { ProcessIdentity } from '../../platform/process-state.ts'
import { pingMasters } from '../../platform/redis/cluster.ts'
import { PROBE_TIMEOUT_MS, withRedisTimeout } from '../../platform/redis/connect.ts'

interface ProcessGaugesDeps {
  recorder: MetricsRecorder
  redis: Redis
  engine: Engine
  identity: ProcessIdentity
  clientMemory: ClientMemory
}

export function addProcessGauges({
  recorder: { registry },
  redis,
  engine,
  identity,
  clientMemory,
}: ProcessGaugesDeps): void {
  const labels = { ...identity }
  createGauge(registry, 'rgs_build_info', (gauge) => gauge.set({ version: VERSION, engine: engine.version }, 1))
  createGauge(registry, 'rgs_process_up', (gauge) => gauge.set(labels, 1))
  createGauge(registry, 'rgs_engine_up', (gauge) => gauge.set(labels, engine.health().ok ? 1 : 0))
  createGauge(registry, 'rgs_engine_workers', (gauge) => {
    for (const [kind, { alive }] of Object.entries(engine.pythonWorkers())) gauge.set({ ...labels, kind }, alive)
  })
  createCounter(registry, 'rgs_engine_worker_ends_total', (counter) => {
    counter.reset() // the engine has counted since the process started
    for (const [kind, { ends }] of Object.entries(engine.pythonWorkers()))
      for (const [cause, count] of Object.entries(ends)) counter.inc({ kind, cause }, count)
  })
  if (identity.role === 'api') addClientMemoryGauges(registry, labels, clientMemory)
  createGauge(registry, 'rgs_redis_up', async (gauge) => {
    const isUp = await withRedisTimeout(PROBE_TIMEOUT_MS, pingMasters(redis)).then(
      () => true,
      () => false,
    )
    gauge.set(isUp ? 1 : 0)
  })
}

function addClientMemoryGauges(
  registry: Registry,
  labels: Record<'process' | 'role', string>,
  { bodies, replies }: ClientMemory,
): void {
  createGauge(registry, 'rgs_http_client_memory_bytes', (gauge) => {
    gauge.set({ ...labels, direction: 'in' }, bodies.heldBytes)
    gauge.set({ ...labels, direction: 'out' }, replies.reservedBytes)
  })
  createGauge(registry, 'rgs_http_client_memory_limit_bytes', (gauge) => {
    gauge.set({ ...labels, direction: 'in' }, bodies.limitBytes)
    gauge.set({ ...labels, direction: 'out' }, replies.limitBytes)
  })
}
