/** Samples of collections, processed by hand: by processes that die, and within small limits. */

import { startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { JobAggregator } from '../../../../src/features/evals/aggregator.ts'
import { generateSamplesJob } from '../../../../src/features/evals/concurrency.ts'
import { ListedItems } from '../../../../src/features/evals/job-items.ts'
import { createCollectionKind } from '../../../../src/features/evals/kinds/collection.ts'
import { CollectionSampleProcessor } from '../../../../src/features/evals/kinds/collection-samples.ts'
import { createEvalKind } from '../../../../src/features/evals/kinds/eval.ts'
import { AnswerMemory } from '../../../../src/features/evals/models/answer-memory.ts'
import { ModelClients } from '../../../../src/features/evals/models/clients.ts'
import { createGenerationJobKeys, isOfKind, type JobOfKind } from '../../../../src/features/evals/records.ts'
import { SampleRepository } from '../../../../src/features/evals/samples/repository.ts'
import { createRunKeys } from '../../../../src/features/runs/records.ts'
import { Queues } from '../../../../src/platform/queue/queues.ts'
import { openWorld, until, untilMadeAhead, type World } from '../../../world.ts'
import { startChoosingModel, startHoldingModel } from '../choosing-model.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

/** Of a process that is killed before it has stored what it took. */
class DyingSamples extends SampleRepository {
  override appendItems(): Promise<boolean> {
    throw new Error('killed')
  }
}

function createProcessor(samples: SampleRepository, maxGroupBytes?: number): CollectionSampleProcessor {
  const { tasks, runs: runsFeature, rollouts, evals } = world.features
  const { generationJobs, suites } = evals
  const deps = {
    ...tasks,
    openItems: (job: JobOfKind<'eval'>) => new ListedItems(job, samples),
    samples,
    suites,
    egressPolicy: { allow_loopback: true, allowed_hosts: [] },
    engineVersion: world.engine.version,
  }
  const kinds = { eval: createEvalKind(deps), collection: createCollectionKind(deps) }
  return new CollectionSampleProcessor({
    generationJobs,
    samples,
    suites,
    modelClients: new ModelClients(generationJobs),
    answerMemory: new AnswerMemory(),
    runs: runsFeature.runs,
    storedRuns: runsFeature.repository,
    itemQueue: runsFeature.itemQueue,
    rolloutSubmission: rollouts.submission,
    aggregator: new JobAggregator({ generationJobs, kinds }),
    ...(maxGroupBytes !== undefined && { maxGroupBytes }),
  })
}

it('the next process gets the items that one took before it died', async () => {
  const { redis, keys } = world.platform
  const model = await startMockModel({ server: async () => undefined, accuracy: 0 })
  await world.call('PUT', '/runs/claimed', { group_size: 2, batch_size: 2, tasks: ['gcd'] })
  world.startWorker()
  await untilMadeAhead(world, 'claimed', 20).finally(() => world.stopWorkers())
  const { body } = await world.call('POST', '/runs/claimed/collect', {
    model: { name: 'm', base_url: model.url },
    groups: 20,
  })
  const job = await world.features.evals.generationJobs.get(body.id)
  if (!job || !isOfKind(job, 'collection')) throw new Error('no collection')
  const { signal } = new AbortController()
  const processUntil = (samples: SampleRepository, outcome: unknown) =>
    until(
      () =>
        createProcessor(samples)
          .process(job, 0, 0, signal)
          .catch(({ message }: Error) => message),
      (ended) => ended === outcome, // else it is to be processed again: no item is made yet
    )
  await processUntil(new DyingSamples(redis, keys), 'killed')
  await processUntil(new SampleRepository(redis, keys), undefined)
  const claimed = await redis.llen(createGenerationJobKeys(keys).forGenerationJob(body.id).items)
  const run = await world.features.runs.runs.require('claimed')
  expect(claimed).toBeGreaterThan(1)
  expect(await redis.hlen(createRunKeys(keys).forRun('claimed', run.epoch).leasedItems)).toBe(claimed)
  await model.close()
})

it('an answer that brings its group above the limit fails with the reason, and the collection ends', async () => {
  const { redis, keys } = world.platform
  const maxGroupBytes = 64 * 1024
  const content = `<answer>x</answer>${' '.repeat(25 * 1024)}`
  const model = await startChoosingModel({ message: { content }, finish_reason: 'stop' })
  const unscored = { drop_equal_scores: false, unscored_rollouts: 'mask' }
  await world.call('PUT', '/runs/wide', { group_size: 3, batch_size: 3, tasks: ['gcd'], ...unscored })
  const queues = new Queues(redis, keys.queuePrefix)
  await queues.getOrCreate(generateSamplesJob.name).pause() // the worker only scores
  world.startWorker()
  const asked = { model: { name: 'm', base_url: model.url }, groups: 1, concurrency: 1 }
  const { body } = await world.call('POST', '/runs/wide/collect', asked)
  const job = await world.features.evals.generationJobs.get(body.id)
  if (!job || !isOfKind(job, 'collection')) throw new Error('no collection')
  const processor = createProcessor(new SampleRepository(redis, keys), maxGroupBytes)
  const { signal } = new AbortController()
  for (const sample of [0, 1, 2])
    await until(
      () => processor.process(job, sample, 0, signal),
      (requeue) => requeue === undefined,
    )
  expect((await world.call('GET', `/runs/wide/collect/${body.id}`)).body).toMatchObject({
    status: 'done',
    progress: { done: 3, total: 3, failed: 1, mean_score: 0 },
    result: { groups: 1, scored: 1 },
  })
  const [group] = (await world.call('POST', '/runs/wide/batches', { step: 0, final: true })).body.groups
  expect(group.rollouts.map(({ extra }: { extra?: unknown }) => extra)).toEqual([
    undefined,
    undefined,
    { reason: `The group's outputs are over ${maxGroupBytes} bytes` },
  ])
  await queues.close()
  model.close()
})

it('of two answers to a sample whose worker stalls the first counts, before its group is scored and after', async () => {
  const { redis, keys } = world.platform
  const model = await startHoldingModel()
  await world.call('PUT', '/runs/stalled', { group_size: 1, batch_size: 1, tasks: ['gcd'], drop_equal_scores: false })
  const queues = new Queues(redis, keys.queuePrefix)
  await queues.getOrCreate(generateSamplesJob.name).pause()
  world.startWorker()
  await untilMadeAhead(world, 'stalled', 1).finally(() => world.stopWorkers())
  const asked = { model: { name: 'm', base_url: model.url }, groups: 1, concurrency: 1 }
  const { body } = await world.call('POST', '/runs/stalled/collect', asked)
  const job = await world.features.evals.generationJobs.get(body.id)
  if (!job || !isOfKind(job, 'collection')) throw new Error('no collection')
  const { signal } = new AbortController()
  const samples = new SampleRepository(redis, keys)
  const attempt = () =>
    until(
      () => createProcessor(samples).process(job, 0, 0, signal),
      (requeue) => requeue === undefined,
    )
  const attempts = [attempt(), attempt(), attempt()]
  await model.answer(2, 'first')
  await until(
    () => world.call('GET', '/runs/stalled'),
    ({ body }) => body.progress.groups === 1,
  )
  await model.answer(1, 'second')
  world.startWorker()
  await Promise.race(attempts)
  await until(
    () => world.call('GET', `/runs/stalled/collect/${body.id}`),
    ({ body }) => body.status === 'done',
  )
  await model.answer(0, 'third')
  await Promise.all(attempts)
  expect(await samples.getOutput(body.id, 0)).toBeUndefined()
  expect((await world.call('GET', '/runs/stalled')).body.progress).toMatchObject({ groups: 1, rollouts: 1 })
  const [group] = (await world.call('POST', '/runs/stalled/batches', { step: 0, final: true })).body.groups
  expect(group.rollouts).toMatchObject([{ completion: 'first' }])
  await queues.close()
  model.close()
})
