import { execFileSync } from 'node:child_process'
import type { CollectionView } from '@reasoning-gym-server/contract/collection'
import type { Eval } from '@reasoning-gym-server/contract/eval'
import { type MockModel, startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChildServer, startChildServer } from '../../verification/support/with-server.ts'
import { until } from '../world.ts'

let server: ChildServer
let model: MockModel
beforeAll(async () => {
  server = await startChildServer({ WORKERS: '1', API_PROCESSES: '1' })
  model = await startMockModel({ server: { url: server.url }, accuracy: 0.7, latencyMs: 80 })
}, 300_000)
afterAll(async () => {
  await model.close()
  await server.stop()
})

const post = async <T>(path: string, body: object, method = 'POST'): Promise<T> =>
  (
    await fetch(server.url + path, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  ).json() as Promise<T>
const get = async <T>(path: string): Promise<T> => (await fetch(server.url + path)).json() as Promise<T>

/** Kills the worker in the middle of what it does; the service starts another. */
function killWorker(): void {
  const lines = execFileSync('ps', ['-eo', 'pid,ppid,args']).toString().split('\n')
  const workers = lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, ppid, ...words]) => ppid === String(server.pid) && words.some((word) => word.endsWith('worker.ts')))
  expect(workers).toHaveLength(1)
  for (const [pid] of workers) process.kill(Number(pid), 'SIGKILL')
}

const given = () => model.counts.right + model.counts.wrong

it('an eval and a collection whose worker is killed twice go on, post no group twice, and ask again only for what was in flight', async () => {
  const [ofEval, ofCollection, kills] = [6, 16, 2]
  const asked = { name: 'm', base_url: model.url }
  const { id } = await post<Eval>('/eval', {
    model: asked,
    suite: 'original',
    samples_per_item: 2,
    concurrency: ofEval,
  })
  const lookAtEval = () => get<Eval>(`/eval/${id}`)
  await post('/runs/killed', { group_size: 2, batch_size: 2, keep_groups: 1000 }, 'PUT')
  const begun = await post<CollectionView>('/runs/killed/collect', {
    model: asked,
    groups: 200,
    concurrency: ofCollection,
    buffer: false,
  })
  const lookAtCollection = () => get<CollectionView>(`/runs/killed/collect/${begun.id}`)
  for (const samples of [20, 120]) {
    await until(lookAtEval, ({ progress }) => progress.done >= samples, 60_000)
    await until(lookAtCollection, ({ progress }) => progress.done >= samples, 60_000)
    killWorker()
  }
  const evaluated = await until(lookAtEval, (found) => found.status !== 'running', 120_000)
  expect(evaluated.status).toBe('done')
  expect(evaluated.result).toMatchObject({ n: 200, scored: 200, missing: 0, unscored: 0 })
  const { result, status } = await until(lookAtCollection, (found) => found.status !== 'running', 120_000)
  expect([status, result]).toMatchObject(['done', { groups: 200, failed: 0 }])
  const run = await until(
    () => get<{ progress: { groups: number; rollouts: number; scored_groups: number } }>('/runs/killed'),
    ({ progress }) => progress.scored_groups >= 200,
    60_000,
  )
  expect(run.progress).toMatchObject({ groups: 200, rollouts: 400, scored_groups: 200 })
  const answers = 200 + 400
  expect(given()).toBeGreaterThanOrEqual(answers)
  expect(given()).toBeLessThanOrEqual(answers + kills * (ofEval + ofCollection))
}, 400_000)
