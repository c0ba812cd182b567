import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ServiceError } from '../../../src/contract/errors.ts'
import { packGroup, unpackMetadata } from '../../../src/features/rollouts/group-payload.ts'
import { requeueLostGroups } from '../../../src/features/rollouts/jobs/requeue-groups.ts'
import { createScoreGroupProcessor } from '../../../src/features/rollouts/jobs/score-group.ts'
import { REQUEUE_ENGINE_DOWN } from '../../../src/platform/queue/job-definitions.ts'

const MB = 2 ** 20
const GROUPS = 6
const UP = { health: () => ({ ok: true }) }
const DOWN = { health: () => ({ ok: false, detail: 'gone' }) }

const jobOf = (parts: object) =>
  createScoreGroupProcessor(parts as unknown as Parameters<typeof createScoreGroupProcessor>[0])

/** How many of several groups are read at once. */
async function atOnce(textBytes: number, hint?: { text_bytes: number }): Promise<number> {
  let [inHand, most] = [0, 0]
  const groups = {
    get: async () => ({ status: 'queued', forBuffer: true, metadata: { text_bytes: textBytes, rollouts: [] } }),
    async getQueued() {
      most = Math.max(most, ++inHand)
      await sleep(20)
      inHand--
      return undefined // no longer there: nothing else is asked of the job
    },
  }
  const job = jobOf({ engine: UP, groups })
  const places = Array.from({ length: GROUPS }, (_, k) => ({ run: 'r', epoch: 1, group: String(k), ...hint }))
  await Promise.all(places.map((place) => job(place, { last: false })))
  return most
}

it('holds many small groups at once, and of large ones as many as have room', async () => {
  expect(await atOnce(MB)).toBe(GROUPS)
  expect(await atOnce(100 * MB)).toBe(2)
  expect(await atOnce(1000 * MB)).toBe(1)
  expect(await atOnce(MB, { text_bytes: 100 * MB })).toBe(2) // as its job says, where it does
})

it('counts texts as they are unpacked, however well they pack', () => {
  const { metadata: about, texts } = packGroup({ item_id: 'x', rollouts: [{ completion: 'a'.repeat(MB) }] }, true)
  expect(unpackMetadata(about).text_bytes).toBeGreaterThan(MB)
  expect(texts.byteLength).toBeLessThan(MB / 100)
})

it('waits for the engine however often it is down, also at its last try, and reads its group once meanwhile', async () => {
  let [engine, reads] = [DOWN, 0] as [typeof UP | typeof DOWN, number]
  const groups = {
    async getQueued() {
      reads++
      throw new ServiceError('engine_unavailable', 'gone')
    },
  }
  const job = jobOf({ engine: { health: () => engine.health() }, groups })
  const ask = () => job({ run: 'r', epoch: 1, group: 'g', text_bytes: 1 }, { last: true })
  for (let k = 0; k < 20; k++) expect(await ask()).toEqual(REQUEUE_ENGINE_DOWN)
  expect(reads).toBe(1)
  engine = UP
  await ask()
  expect(reads).toBe(2)
})

it('only the engine is waited for', async () => {
  const fault = new ServiceError('redis_unavailable', 'gone')
  const job = jobOf({ engine: UP, groups: { getQueued: () => Promise.reject(fault) } })
  await expect(job({ run: 'r', epoch: 1, group: 'g', text_bytes: 1 }, { last: true })).rejects.toBe(fault)
})

it('is given no further job for a group that waits for the engine', async () => {
  const added: unknown[] = []
  const parts = {
    runs: { listNames: async () => ['r'], get: async () => ({ epoch: 1 }) },
    groups: { listPendingAcceptedBefore: async () => ['g'] },
    producer: { add: async (_: string, jobs: unknown[]) => void added.push(...jobs) },
  }
  const swept = (engine: object) =>
    requeueLostGroups({ ...parts, engine } as unknown as Parameters<typeof requeueLostGroups>[0], 1)
  expect([await swept(DOWN), added.length]).toEqual([0, 0])
  expect([await swept(UP), added.length]).toEqual([1, 1])
})
