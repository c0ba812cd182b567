/** What evals store is bounded and can be deleted: completions by size, each and together, and all of an ended job. */
import { randomBytes } from 'node:crypto'
import type { EvalSample } from '@reasoning-gym-server/contract/eval-sample'
import { startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { OutputSpace } from '../../../src/features/evals/samples/output.ts'
import { keysOf, openWorld, until, type World } from '../../world.ts'

const MIB = 1024 * 1024

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true, EVAL_OUTPUTS_MAX_BYTES: 2500 })
})
afterAll(() => world.close())

/** Posts a completion of 1,000 random bytes for each of two samples of a new eval. */
async function evaluatePosted() {
  const { body } = await world.call('POST', '/eval', { model: null, suite: { tasks: ['gcd'], n: 2 } })
  const completions = ['s0', 's1'].map((sample_id) => ({
    sample_id,
    completion: `<answer>1</answer>${randomBytes(1000).toString('hex')}`,
  }))
  expect((await world.call('POST', `/eval/${body.id}/completions`, { completions })).body.new).toBe(2)
  const { result } = (await world.call('GET', `/eval/${body.id}`)).body
  const samples: EvalSample[] = (await world.call('GET', `/eval/${body.id}/samples?limit=10`)).body.samples
  return { id: body.id as string, result, samples }
}

it('above the limit for all evals, only verdicts are stored, and eval and samples say so; a deleted eval makes room', async () => {
  const first = await evaluatePosted()
  expect(first.samples.every(({ completion }) => completion?.startsWith('<answer>1'))).toBe(true)
  expect(first.samples.some((sample) => 'completion_omitted' in sample)).toBe(false)
  const second = await evaluatePosted()
  expect(second.samples).toMatchObject(Array(2).fill({ status: 'scored', completion: null, completion_omitted: true }))
  expect(second.result).toMatchObject({
    scored: 2,
    warnings: ['2 completions are scored but not kept: they were too large, or EVAL_OUTPUTS_MAX_BYTES was reached'],
  })
  expect((await world.call('DELETE', `/eval/${first.id}?ended=true`)).status).toBe(200)
  await until(evaluatePosted, ({ samples }) => samples.every(({ completion }) => completion !== null), 20_000)
})

it('each output, those of a job and those of all jobs have limits of their own', async () => {
  const bytesOf: Record<string, number> = { small: 0, full: 256 * MIB - 10 }
  const jobs = {
    getOutputBytes: async (id: string) => bytesOf[id] ?? 0,
    sumOutputBytes: async () => 300 * MIB,
  }
  const space = new OutputSpace(jobs, 310 * MIB)
  expect(await space.reserve('small', 4 * MIB + 1)).toBe(false)
  expect(await space.reserve('full', 11)).toBe(false)
  expect(await space.reserve('full', 10)).toBe(true)
  expect(await Promise.all([1, 2, 3, 4].map(() => space.reserve('small', 4 * MIB)))).toEqual([true, true, false, false])
})

it('an ended job is deleted with everything of it; an active one is not', async () => {
  const model = await startMockModel({ server: async () => undefined, latencyMs: 50, accuracy: 0 })
  const place = { name: 'm', base_url: model.url }
  await world.call('PUT', '/runs/kept', { group_size: 2, batch_size: 2, tasks: ['gcd'] })
  const begun = [
    ['/eval', { model: place, suite: 'smoke', run: 'kept' }],
    ['/eval', { model: place, suite: { mode: 'frontier', tasks: ['chain_sum'], n: 20 } }],
    ['/runs/kept/collect', { model: place, groups: 50, buffer: false }],
  ] as const
  await Promise.all(
    begun.map(async ([path, body]) => {
      const { id } = (await world.call('POST', path, { ...body, concurrency: 2 })).body
      await until(
        () => world.call('GET', `${path}/${id}`),
        (answer) => answer.body.progress.done > 0,
      )
      const refused = await world.call('DELETE', `${path}/${id}?ended=true`)
      expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request'])
      await world.call('DELETE', `${path}/${id}`)
      const deleted = await world.call('DELETE', `${path}/${id}?ended=true`)
      expect([deleted.status, deleted.body]).toMatchObject([200, { id, status: 'cancelled' }])
      expect((await world.call('GET', `${path}/${id}`)).status).toBe(404)
      expect((await world.call('DELETE', `${path}/${id}?ended=true`)).status).toBe(404)
      expect(JSON.stringify((await world.call('GET', path)).body)).not.toContain(id)
      // the slots that were busy end without writing anything
      await until(
        () => keysOf(world.platform.redis, `*generation-job:${id}*`),
        (keys) => keys.length === 0,
      )
    }),
  )
  await model.close()
})
