import { execFileSync } from 'node:child_process'
import { defineConfig } from 'vitest/config'
import { MAX_WORKERS, SERVER_TESTS, SHARED } from './vitest.config.ts'

/** The servers to test on, separated by commas: Redis 6.2 or newer, or Valkey. Empty: the one that the private Redis uses. */
const binaries = (process.env.REDIS_SERVER_BINARIES ?? '').split(',').filter(Boolean)

/** Such as `Redis 7.0.15` or `Valkey 8.0.1`. */
function nameServer(binary: string): string {
  const [, name, version] = /^(\w+) server v=([\d.]+)/.exec(execFileSync(binary, ['--version']).toString()) ?? []
  return `${name} ${version}`
}

/** `npm run test:cluster`: what touches Redis, on a Redis Cluster of three masters of each server. */
export default defineConfig({
  test: {
    projects: (binaries.length > 0 ? binaries : [undefined]).map((binary) => ({
      extends: true,
      test: {
        name: binary === undefined ? 'cluster' : nameServer(binary),
        ...(binary !== undefined && { provide: { redisBinary: binary } }),
      },
    })),
    ...SHARED,
    maxWorkers: MAX_WORKERS,
    include: SERVER_TESTS,
    // Pure rules know no Redis; process tests bring a Redis of their own.
    exclude: [
      'test/scorers/**',
      'test/grading/**',
      'packages/**',
      'test/docs/**',
      'test/verification/**',
      'test/main/**',
      'test/engine/**',
      'test/processes/**',
      'test/clients/**',
      'test/features/rollouts/ledger.test.ts', // cuts its connection, which a cluster's client has several of
      'test/platform/redis/redis-tls.test.ts', // puts TLS in front of the one Redis of the ordinary suite
      'test/failures/redis-tls.test.ts', // likewise
      'test/platform/redis/script-connections.test.ts', // likewise
      'test/features/operations/metrics.test.ts', // disconnects one client; a cluster's keeps others
      'test/features/operations/engine-version-claim.test.ts', // holds up its lanes, which a cluster's client has none of
    ],
    globalSetup: ['test/setup-cluster.ts'],
  },
})
