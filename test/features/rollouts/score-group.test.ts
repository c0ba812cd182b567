import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import { expect, it } from 'vitest'
import { packGroup, unpackMetadata } from '../../../src/features/rollouts/group-payload.ts'
import { createGroupQueue, requeueLostGroups } from '../../../src/features/rollouts/jobs.ts'
import { createScoreGroupProcessor } from '../../../src/features/rollouts/score-group.ts'
import { REQUEUE_ON_OTHER_WORKER } from '../../../src/platform/queue/job-definition.ts'

const MB = 2 ** 20
const GROUPS = 6
const ITEM_ID = encodeItemId({ task: 'chain_sum', seed: 1, index: 0, engine: '1', difficulty: null, config: {} })
const UP = { health: () => ({ ok: true }) }
const DOWN = { health: () => ({ ok: false, detail: 'gone' }) }

const processorOf = (deps: object) =>
  createScoreGroupProcessor(deps as unknown as Parameters<typeof createScoreGroupProcessor>[0])

/** How many of several groups are read at once. */
async function countConcurrentReads(textBytes: number, hint?: { text_bytes: number }): Promise<number> {
  let [inFlight, max] = [0, 0]
  const groups = {
    get: async () => ({ status: 'queued', forBuffer: true, metadata: { text_bytes: textBytes, rollouts: [] } }),
    async getQueued() {
      max = Math.max(max, ++inFlight)
      await sleep(20)
      inFlight--
      return undefined // no longer there: nothing else is asked of the job
    },
  }
  const processJob = processorOf({ engine: UP, groups })
  const places = Array.from({ length: GROUPS }, (_, k) => ({ run: 'r', epoch: 1, group: String(k), ...hint }))
  await Promise.all(places.map((place) => processJob(place, { attempt: 1, isLastAttempt: false })))
  return max
}

it('scores many small groups at once, and only as many large ones as fit in memory', async () => {
  expect(await countConcurrentReads(MB)).toBe(GROUPS)
  expect(await countConcurrentReads(100 * MB)).toBe(2)
  expect(await countConcurrentReads(1000 * MB)).toBe(1)
  expect(await countConcurrentReads(MB, { text_bytes: 100 * MB })).toBe(2) // as its job says, where it does
})

it('counts the unpacked size of texts, however well they compress', () => {
  const { metadata: about, texts } = packGroup({ item_id: ITEM_ID, rollouts: [{ completion: 'a'.repeat(MB) }] }, true)
  expect(unpackMetadata(about).text_bytes).toBeGreaterThan(MB)
  expect(texts.byteLength).toBeLessThan(MB / 100)
})

it('waits for the engine even on its last attempt, and reads the group once meanwhile', async () => {
  let [engine, reads] = [DOWN, 0] as [typeof UP | typeof DOWN, number]
  const groups = {
    async getQueued() {
      reads++
      throw new ServiceError('engine_unavailable', 'gone')
    },
  }
  const processJob = processorOf({ engine: { health: () => engine.health() }, groups })
  const ask = () => processJob({ run: 'r', epoch: 1, group: 'g', text_bytes: 1 }, { attempt: 1, isLastAttempt: true })
  for (let k = 0; k < 20; k++) expect(await ask()).toEqual(REQUEUE_ON_OTHER_WORKER)
  expect(reads).toBe(1)
  engine = UP
  await ask()
  expect(reads).toBe(2)
})

it('fails on its last attempt for any reason but the engine', async () => {
  const fault = new ServiceError('redis_unavailable', 'gone')
  const processJob = processorOf({ engine: UP, groups: { getQueued: () => Promise.reject(fault) } })
  await expect(
    processJob({ run: 'r', epoch: 1, group: 'g', text_bytes: 1 }, { attempt: 1, isLastAttempt: true }),
  ).rejects.toBe(fault)
})

it('a group that fails among others gets a job of its own, whatever the reason, and the others are done', async () => {
  const [read, requeued] = [[] as string[], [] as unknown[]]
  const groups = {
    async getQueued({ group }: { group: string }) {
      read.push(group)
      if (group === 'b') throw new ServiceError('engine_version_mismatch', 'made by another version')
      return undefined
    },
  }
  const requeueAlone = async (failed: unknown[]) => void requeued.push(...failed)
  const processJob = processorOf({ engine: UP, groups, requeueAlone })
  const [a, b, c] = ['a', 'b', 'c'].map((group) => ({ run: 'r', epoch: 1, group, text_bytes: 1, request: 'q' }))
  const job = { ...(a ?? expect.fail()), more: [b ?? expect.fail(), c ?? expect.fail()] }
  expect(await processJob(job, { attempt: 6, isLastAttempt: true })).toBeUndefined()
  expect(read.toSorted()).toEqual(['a', 'b', 'c'])
  expect(requeued).toEqual([b])
})

it('groups that come together share jobs, and those that cannot share have their own', async () => {
  const jobs: { id: string; data: { group: string; more?: { group: string }[] } }[] = []
  const add = async (_: unknown, added: typeof jobs) => void jobs.push(...added)
  const enqueue = createGroupQueue({ add } as unknown as Parameters<typeof createGroupQueue>[0])
  const send = (group: string, canShare: boolean) => enqueue({ run: 'r', epoch: 1, group, canShare })
  await Promise.all([...Array.from({ length: 13 }, (_, k) => send(`n${k}`, true)), send('slow', false)])
  const sizes = jobs.map(({ data: { group, more = [] } }) => (group === 'slow' ? 'slow' : 1 + more.length))
  expect(sizes).toEqual([1, 'slow', 8, 4])
  const groups = jobs.flatMap(({ data: { group, more = [] } }) => [group, ...more.map((one) => one.group)])
  expect(new Set(groups).size).toBe(14)
  expect(new Set(jobs.map(({ id }) => id)).size).toBe(4)
})

it('no job is added again while the engine is down', async () => {
  const added: unknown[] = []
  const parts = {
    index: { listToSweep: async () => ['r'] },
    runs: { get: async () => ({ epoch: 1 }) },
    groups: { listPendingAcceptedBefore: async () => ['g'] },
    producer: { add: async (_: string, jobs: unknown[]) => void added.push(...jobs) },
  }
  const requeued = (engine: object) =>
    requeueLostGroups({ ...parts, engine } as unknown as Parameters<typeof requeueLostGroups>[0], 1)
  expect([await requeued(DOWN), added.length]).toEqual([0, 0])
  expect([await requeued(UP), added.length]).toEqual([1, 1])
})
