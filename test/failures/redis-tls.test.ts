/** Row of docs/operations/failures.md: the TLS connection to Redis is cut under load. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createTestCertificates, hasOpenssl } from '../../verification/support/certificates.ts'
import { startTlsProxy, type TlsProxy } from '../platform/redis/tls-proxy.ts'
import { openWorld, until, type World } from '../world.ts'
import { type Client, clientOf } from './server.ts'

const CUTS = 8

describe.skipIf(!hasOpenssl())('a TLS connection to Redis (needs openssl)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-tls-cuts-'))
  let proxy: TlsProxy
  let world: World
  let client: Client
  beforeAll(async () => {
    const { server, ca } = createTestCertificates(folder)
    proxy = await startTlsProxy({ target: { path: inject('redisUrl') }, certificate: server })
    world = await openWorld({
      worker: true,
      redisUrl: `rediss://127.0.0.1:${proxy.port}`,
      redisTls: { ca: readFileSync(ca, 'utf8') },
      PYTHON_WORKERS: 1,
      JOB_LOCK_S: 5,
    })
    client = clientOf(await world.app.listen({ host: '127.0.0.1', port: 0 }))
  })
  afterAll(async () => {
    await world?.close()
    await proxy?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('is cut again and again under load: a call gets 503 at worst, and every group comes once', async () => {
    const run = randomUUID()
    const groups = Array.from({ length: 24 }, (_, k) => `g${k}`).toSorted()
    const statuses = new Set<number>()
    const insist = async (method: string, path: string, body: unknown) =>
      until(
        async () => {
          const answer = await client.call(method, path, body, { prefer: 'wait=5' })
          statuses.add(answer.status)
          return answer
        },
        ({ status }) => status === 200, // not 202 or 204, which say "later"
        120_000,
      )
    await client.call('PUT', `/runs/${run}`, { batch_size: 2, min_trained_tokens: 0 })
    const itemId = (await client.call('POST', '/items', { task: 'leg_counting', seed: 42 })).body.items[0].id
    const post = (group: string) => {
      const rollouts = ['<answer>100</answer>', 'x'.repeat(50_000)].map((completion) => ({ completion }))
      return insist('POST', '/rollouts', { run, item_id: itemId, group_id: group, rollouts })
    }
    const train = async () => {
      const delivered: string[] = []
      for (const step of groups.keys()) {
        const batch = await insist('POST', `/runs/${run}/batches`, { step })
        delivered.push(...batch.body.groups.map(({ group_id }: { group_id: string }) => group_id))
        await insist('POST', `/runs/${run}/batches/${step}/ack`, {})
      }
      return delivered.toSorted()
    }
    let isTraining = true
    const cutting = (async () => {
      let cuts = 0
      for (; isTraining || cuts < CUTS; cuts++) {
        proxy.cut()
        await sleep(cuts < CUTS ? 20 + 40 * cuts : 1000 * (cuts - CUTS)) // on a busy machine, too, a call comes through in the end
      }
    })()
    const [delivered] = await Promise.all([train(), ...groups.map(post)])
    isTraining = false
    await cutting
    expect(delivered).toEqual(groups)
    expect([...statuses].filter((status) => ![200, 202, 204, 503].includes(status))).toEqual([])
    const { body } = await until(
      () => client.call('GET', `/runs/${run}`),
      ({ status }) => status === 200,
    )
    expect(body.progress).toMatchObject({ groups: 24, scored_groups: 24, queued_groups: 0, buffered_groups: 0 })
  }, 300_000)
})
