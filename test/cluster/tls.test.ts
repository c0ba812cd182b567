/** Sentinel and a cluster whose servers speak TLS and ask for certificates. Run by `npm run test:cluster`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { resolveRedisBinary } from '../../src/main/bootstrap/redis/redis-process.ts'
import { readConfig, requireRedisConfig } from '../../src/platform/environment.ts'
import { connectForRequests, connectForWorkers, waitUntilReady } from '../../src/platform/redis/connect.ts'
import {
  createTestCertificates,
  hasOpenssl,
  supportsTls,
  type TestCertificates,
} from '../../verification/support/certificates.ts'
import { startRedisCluster } from '../../verification/support/redis-cluster.ts'
import { startSentinel } from '../../verification/support/redis-sentinel.ts'
import { until } from '../world.ts'

const binary = inject('redisBinary') ?? (await resolveRedisBinary(console.log))
const folder = mkdtempSync(join(tmpdir(), 'rgs-tls-cluster-'))

describe.skipIf(!hasOpenssl() || !supportsTls(binary))(
  'over TLS (needs openssl and a redis-server built with it)',
  () => {
    let certificates: TestCertificates
    beforeAll(() => {
      certificates = createTestCertificates(folder)
    })
    afterAll(() => rmSync(folder, { recursive: true, force: true }))

    const configFor = (url: string) =>
      requireRedisConfig(
        readConfig({
          REDIS_URL: url,
          REDIS_TLS_CA_FILE: certificates.ca,
          REDIS_TLS_CERT_FILE: certificates.client.cert,
          REDIS_TLS_KEY_FILE: certificates.client.key,
        }),
      )

    it('follows a Sentinel failover', async () => {
      const setup = await startSentinel(binary, certificates)
      const connections = [connectForRequests(configFor(setup.url)), connectForWorkers(configFor(setup.url))]
      try {
        await Promise.all(connections.map((redis) => waitUntilReady(redis, 10_000)))
        await setup.failOver()
        for (const redis of connections)
          await until(
            () => redis.set('k', 'v').catch((error: Error) => error.message),
            (reply) => reply === 'OK',
          )
      } finally {
        for (const redis of connections) redis.disconnect()
        await setup.stop()
      }
    })

    it('reaches every master of a cluster', async () => {
      const cluster = await startRedisCluster(binary, certificates)
      const redis = connectForRequests(configFor(cluster.url))
      try {
        await waitUntilReady(redis, 10_000)
        const keys = Array.from({ length: 50 }, (_, k) => `key-${k}`)
        expect(await Promise.all(keys.map((key) => redis.set(key, key)))).toEqual(keys.map(() => 'OK'))
      } finally {
        redis.disconnect()
        await cluster.stop()
      }
    })
  },
)
