import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { requireRedis } from '../../../src/main/storage-checks.ts'
import { readConfig, requireRedisConfig } from '../../../src/platform/environment.ts'
import { createLogger } from '../../../src/platform/log.ts'
import { connectForProbe, connectForRequests, waitUntilReady } from '../../../src/platform/redis/connect.ts'
import {
  createTestCertificates,
  hasOpenssl,
  type TestCertificates,
} from '../../../verification/support/certificates.ts'
import { until } from '../../world.ts'
import { startTlsProxy, type TlsProxy } from './tls-proxy.ts'

const folder = mkdtempSync(join(tmpdir(), 'rgs-tls-'))
const target = { path: inject('redisUrl') }

/** Tries again: on a busy machine a handshake may take longer than a try. */
async function untilFails(start: () => Promise<void>, line: RegExp): Promise<void> {
  const message = () =>
    start().then(
      () => 'it started',
      (error: Error) => error.message,
    )
  await until(message, (text) => line.test(text))
}

describe.skipIf(!hasOpenssl())('Redis over TLS (needs openssl)', () => {
  let certificates: TestCertificates
  const proxies: TlsProxy[] = []
  let tls: TlsProxy
  let mutual: TlsProxy
  let expired: TlsProxy
  beforeAll(async () => {
    certificates = createTestCertificates(folder)
    const { server, ca } = certificates
    tls = await startTlsProxy({ target, certificate: server })
    mutual = await startTlsProxy({ target, certificate: server, clientCa: ca })
    expired = await startTlsProxy({ target, certificate: certificates.expired })
    proxies.push(tls, mutual, expired)
  })
  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()))
    rmSync(folder, { recursive: true, force: true })
  })

  const configFor = (url: string, settings: Record<string, string> = {}) =>
    requireRedisConfig(readConfig({ REDIS_URL: url, ...settings }))
  const at = ({ port }: TlsProxy, host = '127.0.0.1') => `rediss://${host}:${port}`

  it('is trusted by its CA, for commands and for scripts', async () => {
    const redis = connectForRequests(configFor(at(tls), { REDIS_TLS_CA_FILE: certificates.ca }))
    try {
      await waitUntilReady(redis, 10_000)
      expect(await redis.ping()).toBe('PONG')
      expect(await redis.eval('return ARGV[1]', 0, 'x'.repeat(100_000))).toHaveLength(100_000)
    } finally {
      redis.disconnect()
    }
  })

  it('gets a client certificate where it asks for one', async () => {
    const { cert, key } = certificates.client
    const settings = { REDIS_TLS_CA_FILE: certificates.ca, REDIS_TLS_CERT_FILE: cert, REDIS_TLS_KEY_FILE: key }
    const redis = connectForProbe(configFor(at(mutual), settings))
    try {
      await waitUntilReady(redis, 10_000)
      expect(await redis.ping()).toBe('PONG')
    } finally {
      redis.disconnect()
    }
  })

  it('is checked against the name that is set, where the address has another', async () => {
    const redis = connectForProbe(
      configFor(at(tls, 'localhost'), { REDIS_TLS_CA_FILE: certificates.ca, REDIS_TLS_SERVERNAME: 'redis.test' }),
    )
    try {
      await waitUntilReady(redis, 10_000)
    } finally {
      redis.disconnect()
    }
  })

  it.concurrent.each([
    ['an unknown CA', () => at(tls), () => ({}), /REDIS_TLS_CA_FILE/],
    ['a wrong CA', () => at(tls), () => ({ REDIS_TLS_CA_FILE: certificates.otherCa }), /REDIS_TLS_CA_FILE/],
    ['an expired certificate', () => at(expired), () => ({ REDIS_TLS_CA_FILE: certificates.ca }), /expired.*renew/],
    [
      'another name',
      () => at(tls, 'localhost'),
      () => ({ REDIS_TLS_CA_FILE: certificates.ca }),
      /REDIS_TLS_SERVERNAME/,
    ],
    ['no client certificate', () => at(mutual), () => ({ REDIS_TLS_CA_FILE: certificates.ca }), /REDIS_TLS_CERT_FILE/],
    [
      'a client certificate of another CA',
      () => at(mutual),
      () => ({
        REDIS_TLS_CA_FILE: certificates.ca,
        REDIS_TLS_CERT_FILE: certificates.otherCa,
        REDIS_TLS_KEY_FILE: certificates.otherCa.replace('.crt', '.key'),
      }),
      /REDIS_TLS_CERT_FILE/,
    ],
    ['no TLS to a TLS port', () => at(tls).replace('rediss', 'redis'), () => ({}), /rediss:\/\//],
  ])('%s is told in one line, with the setting that mends it', async (_what, url, settings, line) => {
    const start = () =>
      requireRedis(configFor(url(), settings()), createLogger('fatal', 'test'), {
        firstMs: 1500,
        repeatMs: 0,
        timeoutMs: 0,
      })
    await untilFails(start, line)
  })

  it('TLS to a port without is told in one line', async () => {
    const plain = createServer((socket) => {
      const redis = connect(target)
      socket.on('error', () => {}).on('close', () => redis.destroy())
      redis.on('error', () => {}).on('close', () => socket.destroy())
      socket.pipe(redis).pipe(socket)
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    plain.listen(0, '127.0.0.1', resolve)
    await promise
    const redis = connectForProbe(configFor(`rediss://127.0.0.1:${(plain.address() as AddressInfo).port}`))
    try {
      await untilFails(() => waitUntilReady(redis, 1500), /redis:\/\//)
    } finally {
      redis.disconnect()
      plain.close()
    }
  })

  it('settings that cannot be used are named at the start', () => {
    const { ca, client, server } = certificates
    const url = 'rediss://127.0.0.1:1'
    expect(() => configFor('redis://127.0.0.1:1', { REDIS_TLS_CA_FILE: ca })).toThrow(
      /REDIS_URL is not encrypted.* rediss/,
    )
    expect(() => configFor(url, { REDIS_TLS_CA_FILE: join(folder, 'none') })).toThrow(/REDIS_TLS_CA_FILE .*ENOENT/)
    expect(() => configFor(url, { REDIS_TLS_CA_FILE: client.key })).toThrow(/REDIS_TLS_CA_FILE: .*no certificate/)
    expect(() => configFor(url, { REDIS_TLS_CERT_FILE: client.cert })).toThrow(/Set both/)
    expect(() => configFor(url, { REDIS_TLS_CERT_FILE: client.cert, REDIS_TLS_KEY_FILE: server.key })).toThrow(
      /REDIS_TLS_KEY_FILE is not/,
    )
  })
})
