/** An eval and a collection in a server whose worker is killed. */
import type { CollectionView } from '@reasoning-gym-server/contract/collection'
import type { Eval } from '@reasoning-gym-server/contract/eval'
import { startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import { expect } from 'vitest'
import { until } from '../world.ts'

const TASKS = ['gcd', 'lcm', 'chain_sum', 'leg_counting']
const SAMPLES = 100
const GROUPS = 100
/** How many samples of both are there when the worker is killed. */
const KILL_AT = [20, 60]
const [OF_EVAL, OF_COLLECTION] = [6, 16]

/** Both end complete; the model is asked again only for what was in flight. `killWorker`: the service starts another. */
export async function expectSamplingSurvives(url: string, killWorker: () => Promise<void>): Promise<void> {
  const model = await startMockModel({ server: { url }, accuracy: 0.7, latencyMs: 80 })
  try {
    await runBoth(url, model.url, killWorker)
    const asked = model.counts.right + model.counts.wrong
    const answers = SAMPLES + 2 * GROUPS
    expect(asked).toBeGreaterThanOrEqual(answers)
    // of a group in flight, one of the two completions may have come
    expect(asked).toBeLessThanOrEqual(answers + KILL_AT.length * (OF_EVAL + 2 * OF_COLLECTION))
  } finally {
    await model.close()
  }
}

async function runBoth(url: string, modelUrl: string, killWorker: () => Promise<void>): Promise<void> {
  const get = async <T>(path: string): Promise<T> => (await fetch(url + path)).json() as Promise<T>
  const send = async <T>(method: string, path: string, body: object): Promise<T> => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(url + path, { method, headers, body: JSON.stringify(body) })).json() as Promise<T>
  }
  const model = { name: 'm', base_url: modelUrl }
  const { id } = await send<Eval>('POST', '/eval', {
    model,
    suite: { tasks: TASKS, n: SAMPLES / TASKS.length },
    concurrency: OF_EVAL,
  })
  const lookAtEval = () => get<Eval>(`/eval/${id}`)
  await send('PUT', '/runs/sampled', { tasks: TASKS, group_size: 2, batch_size: 2, keep_groups: 1000 })
  const begun = await send<CollectionView>('POST', '/runs/sampled/collect', {
    model,
    groups: GROUPS,
    concurrency: OF_COLLECTION,
    buffer: false,
  })
  const lookAtCollection = () => get<CollectionView>(`/runs/sampled/collect/${begun.id}`)
  for (const samples of KILL_AT) {
    await until(lookAtEval, ({ progress }) => progress.done >= samples, 60_000)
    await until(lookAtCollection, ({ progress }) => progress.done >= samples, 60_000)
    await killWorker()
  }
  const evaluated = await until(lookAtEval, (found) => found.status !== 'running', 120_000)
  expect(evaluated.status).toBe('done')
  expect(evaluated.result).toMatchObject({ n: SAMPLES, scored: SAMPLES, missing: 0, unscored: 0 })
  const { result, status } = await until(lookAtCollection, (found) => found.status !== 'running', 120_000)
  expect([status, result]).toMatchObject(['done', { groups: GROUPS, failed: 0 }])
  const run = await until(
    () => get<{ progress: { groups: number; rollouts: number; scored_groups: number } }>('/runs/sampled'),
    ({ progress }) => progress.scored_groups >= GROUPS,
    60_000,
  )
  expect(run.progress).toMatchObject({ groups: GROUPS, rollouts: 2 * GROUPS, scored_groups: GROUPS })
}
