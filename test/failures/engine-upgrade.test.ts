/** Row of docs/operations/failures.md: the library is upgraded while groups wait, and taken back. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { ENGINE_VERSION } from '../../src/engine/version.ts'
import { resolveRedisBinary } from '../../src/main/bootstrap/redis/redis-process.ts'
import { findFreePortPairs, LoopbackRedis } from '../../verification/support/loopback-redis.ts'
import { listProcesses } from '../../verification/support/processes.ts'
import { type ChildServer, startChildServer } from '../../verification/support/with-server.ts'
import { takeItems, until } from '../world.ts'
import { copyServerWithVersion, type ServerCopy, venvOf } from './other-version.ts'
import { clientOf } from './server.ts'

const OLD_VERSION = '0.1.24'
const SETTINGS = { tasks: ['leg_counting', 'gcd'], group_size: 2, batch_size: 2, min_trained_tokens: 0 }

let folder: string
let redis: LoopbackRedis
let old: ServerCopy
let env: Record<string, string>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rgs-upgrade-'))
  const [port = 0] = await findFreePortPairs(1)
  redis = new LoopbackRedis(await resolveRedisBinary(console.log), folder, port, {})
  await redis.client.ping()
  env = { REDIS_URL: `redis://127.0.0.1:${port}`, API_PROCESSES: '1', WORKERS: '1', PYTHON_WORKERS: '1' }
  old = await copyServerWithVersion(OLD_VERSION, venvOf(inject('python')))
}, 120_000)
afterAll(async () => {
  await redis.stop()
  old.remove()
  rmSync(folder, { recursive: true, force: true })
})

it('waiting groups are neither lost nor scored by the other version, and items are of the new one', async () => {
  const before = await old.start(env)
  const { call } = clientOf(before.url)
  await call('PUT', '/runs/r', SETTINGS)
  const draw = (step: number) => call('POST', '/items', { run: 'r', step, count: 2 }, { prefer: 'wait=60' })
  const { items } = (await draw(0)).body
  const stepItems = (await draw(1)).body.items
  expect(engineOf(items[0].id)).toBe(OLD_VERSION)
  const { answer } = (await call('GET', `/items/${items[0].id}?reveal=true`)).body
  const rollouts = [{ completion: `<answer>${answer}</answer>` }, { completion: 'none' }]
  const post = (group_id: string, prefer = '') =>
    call('POST', '/rollouts', { run: 'r', item_id: items[0].id, group_id, rollouts }, { prefer })
  expect((await post('scored', 'wait=30')).body.status).toBe('scored')
  process.kill(workerOf(before), 'SIGSTOP')
  expect((await post('waiting')).status).toBe(202)
  await killWithChildren(before)
  await redis.client.del('rgs:engine-processes') // as after the 15 s in which a killed process is taken for dead

  const after = await startChildServer(env)
  const next = clientOf(after.url)
  try {
    const failed = await until(
      () => next.call('GET', '/rollouts/waiting?run=r'),
      ({ body }) => body.status !== 'queued',
      60_000,
    )
    expect(failed.body).toMatchObject({ status: 'failed', code: 'engine_version_mismatch', destination: null })
    expect(failed.body.detail).toContain(OLD_VERSION)
    const { progress, tasks } = (await next.call('GET', '/runs/r')).body
    expect(progress).toMatchObject({ groups: 2, scored_groups: 1, failed_groups: 1 })
    expect(Object.values(tasks as Record<string, { groups: number }>).map(({ groups }) => groups)).toEqual([1])
    const manifest = await next.call('GET', '/runs/r/export?manifest=true&source=kept&min_reward=-1')
    expect(manifest).toMatchObject({ status: 200, body: { lines: 0 } }) // the prompt of `scored` is of the old version
    const batch = await next.call('POST', '/runs/r/batches', { step: 0 })
    expect(batch.body.groups.map((group: { group_id: string }) => group.group_id)).toEqual(['scored'])

    const [label] = items.map(({ id }: Item) => id) // of the former version, from a file of the trainer
    const numbers: [string, object][] = [
      ['/openrlhf/r/get_reward', { query: ['?x'], prompts: ['?'], labels: [label] }],
      ['/slime/r/rm', { response: 'x', label }],
      ['/runs/r/samples', { unscored: 'mean', samples: [{ item_id: label, completion: 'x' }] }],
    ]
    for (const [path, body] of numbers)
      expect((await next.call('POST', path, body)).body.code).toBe('engine_version_mismatch')

    const fresh = await takeItems(next, 'r', 8)
    expect(new Set(fresh.map(({ id }) => engineOf(id)))).toEqual(new Set([ENGINE_VERSION]))
    const again = (await next.call('POST', '/items', { run: 'r', step: 1, count: 2 }, { prefer: 'wait=60' })).body.items
    expect(again.map(recipeOf)).toEqual(stepItems.map((item: Item) => ({ ...recipeOf(item), engine: ENGINE_VERSION })))
    const posted = { run: 'r', item_id: again[0].id, group_id: 'new', rollouts }
    expect((await next.call('POST', '/rollouts', posted, { prefer: 'wait=30' })).body.status).toBe('scored')
  } finally {
    await after.stop()
  }

  const back = await old.start(env) // the way to score them after all
  try {
    const { jobs } = (await clientOf(back.url).call('GET', '/jobs/failed')).body
    expect(jobs).toHaveLength(1)
    expect(jobs[0].attempts).toBe(1) // more tries come to the same
    await clientOf(back.url).call('POST', `/jobs/failed/${jobs[0].id}/retry`, {})
    await clientOf(back.url).expectKept('r', ['waiting'])
  } finally {
    await back.stop()
  }
}, 240_000)

interface Item {
  id: string
}

function recipeOf({ id }: Item) {
  return { ...decodeItemId(id) }
}

function engineOf(id: string): string {
  return decodeItemId(id).engine
}

function workerOf(server: ChildServer): number {
  return listProcesses().find(({ ppid, args }) => ppid === server.pid && args.includes('worker.ts'))?.pid ?? Number.NaN
}

/** The server with its workers, at once: nobody scores what waits, and nobody starts them again. */
async function killWithChildren(server: ChildServer): Promise<void> {
  process.kill(-server.pid, 'SIGKILL')
  await server.stop()
}
