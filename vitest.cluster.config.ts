import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

/** `npm run test:cluster`: what touches Redis, on a Redis Cluster of three masters. */
export default defineConfig({
  test: {
    ...base.test,
    // Pure rules know no Redis; process tests bring a Redis of their own.
    exclude: [
      'test/scorers/**',
      'test/grading/**',
      'test/contract/**',
      'test/codec/**',
      'test/docs/**',
      'test/verification/**',
      'test/main/**',
      'test/engine/**',
      'test/processes/**',
      'test/clients/**',
      'test/features/rollouts/ledger.test.ts', // cuts its connection, which a cluster's client has several of
      'test/platform/redis/script-connections.test.ts', // likewise
      'test/features/operations/metrics.test.ts', // disconnects one client; a cluster's keeps others
      'test/features/operations/engine-version-claim.test.ts', // holds up its lanes, which a cluster's client has none of
    ],
    globalSetup: ['test/setup-cluster.ts'],
  },
})
