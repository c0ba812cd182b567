import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Eval } from '@reasoning-gym-server/contract/eval'
import { EvalSample } from '@reasoning-gym-server/contract/eval-sample'
import { WRONG_ANSWER } from '@reasoning-gym-server/mock-model/answers'
import { drawInjectedFailure, drawOutcome, MockModelBehavior } from '@reasoning-gym-server/mock-model/behavior'
import { type MockModelOptions, startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keysOf, openWorld, until, type World } from '../../world.ts'
import { startChoosingModel } from './choosing-model.ts'

/** Small mazes with far ends: the library finds none for the item with this index. */
const SUITE_WITH_A_BAD_ITEM = {
  tasks: ['maze'],
  n: 8,
  seed: 0,
  config: { min_grid_size: 5, max_grid_size: 5, min_dist: 6, max_dist: 6 },
}
const BAD_ITEM_INDEX = 6

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

async function knowledge(text: string) {
  const { status, body } = await world.call('POST', '/items/find', { text })
  return status === 200 ? body : undefined
}

/** An eval that is over, with its samples, and what the model counted. */
async function run(behaviour: Omit<MockModelOptions, 'server'>, input: object = {}) {
  const model = await startMockModel({ server: knowledge, ...behaviour })
  try {
    const place = { name: 'mock', base_url: model.url, ...('apiKey' in behaviour && { api_key: behaviour.apiKey }) }
    const { status, body } = await world.call('POST', '/eval', { model: place, suite: 'smoke', ...input })
    expect([status, body]).toMatchObject([202, { id: expect.any(String) }])
    const done = await over(body.id)
    return { id: body.id as string, done, result: done.result, samples: await samplesOf(body.id), tally: model.counts }
  } finally {
    await model.close()
  }
}

const over = (id: string) =>
  until(
    async () => (await world.call('GET', `/eval/${id}`)).body,
    ({ status }) => status !== 'queued' && status !== 'running',
    60_000,
  )

async function samplesOf(id: string): Promise<EvalSample[]> {
  const { body } = await world.app.inject({ url: `/eval/${id}/samples` })
  return body
    .trimEnd()
    .split('\n')
    .map((line) => EvalSample.parse(JSON.parse(line)))
}

it('a model that is always right has a mean of 1 on the suite smoke', async () => {
  const { done, result, tally, samples } = await run({ accuracy: 1 })
  expect(Eval.parse(done)).toEqual(done)
  expect(result).toMatchObject({ mean_score: 1, stderr: 0, accuracy: 1, pass_at: { 1: 1 } })
  expect(result.confidence_95[0]).toBeGreaterThan(0.8) // not a point: twenty right answers prove little
  expect(result.confidence_95[1]).toBe(1)
  expect(result).toMatchObject({ n: 20, items: 20, scored: 20, missing: 0, unscored: 0, format_faults: 0 })
  expect(result.mean_tokens).toBeGreaterThan(10)
  expect(tally.requests).toBe(20)
  expect(samples.every(({ score, completion }) => score === 1 && completion?.includes('<answer>'))).toBe(true)
  expect(result.repeat).toMatchObject({
    suite: { name: 'smoke', version: 1, sha256: done.suite.sha256 },
    engine: { version: '0.1.25' },
    sampling: { temperature: 0.1 },
    extraction: 'strict',
  })
})

it('fails with the reason if no sample has a score, whichever slot finds that it is over', async () => {
  const aborted = { message: { content: 'cut' }, finish_reason: 'abort' }
  const right = { message: { content: '<answer>1</answer>' }, finish_reason: 'stop' }
  const endWith = async (...choices: object[]) => {
    const model = await startChoosingModel(...choices)
    const suite = { tasks: ['gcd'], n: 6 }
    const { body } = await world.call('POST', '/eval', { model: { name: 'm', base_url: model.url }, suite })
    const { status, detail, failures } = await over(body.id)
    model.close()
    return { status, detail, failures }
  }
  const reason = 'finish_reason abort'
  expect(await endWith(aborted)).toEqual({
    status: 'failed',
    detail: `None of the 6 samples has a score. Most frequent reason: ${reason}`,
    failures: [{ code: 'generation_failed', reason, count: 6 }],
  })
  expect(await endWith(right, aborted)).toMatchObject({ status: 'done', detail: null, failures: [{ count: 5 }] })
})

it('with all that can go wrong the scores are those known in advance', async () => {
  const behaviour = {
    seed: 5,
    accuracy: 0.6,
    formatFaults: 0.15,
    truncations: 0.1,
    rejections: 0.1,
    rateLimits: 0.15,
    serverErrors: 0.1,
    brokenJson: 0.1,
    closedConnections: 0.1,
    retryAfterS: 0,
  }
  const { result, samples, done } = await run(behaviour, {
    samples_per_item: 3,
    retries: 20,
    temperature: 0.2,
    seed: 0,
  })
  const wanted = MockModelBehavior.parse(behaviour)
  const expected = new Map<string, number | null>()
  for (const { item_id, sample_id } of samples) {
    const item = (await world.call('GET', `/items/${item_id}?reveal=true`)).body
    const k = Number(sample_id.slice(1)) % 3
    const { kind } = drawOutcome(wanted, item, k)
    const wrong = { item_id, answer: WRONG_ANSWER }
    const [partial] = (await world.call('POST', '/score', { rollouts: [wrong] })).body.rewards
    const score = kind === 'right' ? 1 : kind === 'wrong' ? partial : 0
    expected.set(sample_id, drawInjectedFailure(wanted, item.question, 0) === 'rejected' ? null : score)
  }
  expect(samples.map(({ sample_id, score }) => [sample_id, score])).toEqual([...expected])
  const scores = [...expected.values()].filter((score) => score !== null)
  const sum = scores.reduce((total, score) => total + score, 0)
  expect(result.mean_score).toBeCloseTo(sum / scores.length, 12)
  expect(result.mean_score_failures_wrong).toBeCloseTo(sum / 60, 12)
  expect(scores.length).toBeLessThan(60) // something was rejected
  expect(result).toMatchObject({
    n: 60,
    unscored: 60 - scores.length,
    failures: [{ code: 'generation_failed', reason: expect.stringContaining('400'), count: 60 - scores.length }],
  })
  expect(done.progress).toMatchObject({ done: 60, total: 60, failed: 60 - scores.length })
  expect(result.warnings.join()).toContain('pass_at means little at temperature 0.2')
  expect(samples.find(({ status }) => status === 'unscored')).toMatchObject({
    code: 'generation_failed',
    detail: expect.stringContaining('400'),
  })
  expect(result.truncated).toBeGreaterThan(0)
})

it('thinking that comes in a field of its own is not part of what is read', async () => {
  const { result, samples } = await run({ accuracy: 1, reasoning: 'reasoning_content' })
  expect(result.mean_score).toBe(1)
  expect(samples.every(({ reasoning }) => (reasoning?.length ?? 0) > 0)).toBe(true)
})

it('an item that the library cannot make costs an eval that sample and no other', async () => {
  const { done, result, samples } = await run({ accuracy: 1 }, { suite: SUITE_WITH_A_BAD_ITEM })
  expect(done).toMatchObject({ status: 'done', suite: { sha256: expect.any(String) } })
  expect(result).toMatchObject({ n: 8, scored: 7, mean_score: 1, failures: [{ code: 'generation_failed', count: 1 }] })
  expect(done.failures).toEqual(result.failures)
  expect(samples[BAD_ITEM_INDEX]).toMatchObject({ score: null, detail: expect.stringContaining('RuntimeError') })
})

it('a key goes to the model and nowhere else, and is forgotten at the end', async () => {
  const apiKey = 'sk-very-secret-0123456789'
  const { id, result, done, samples } = await run({ accuracy: 1, apiKey })
  expect(result.mean_score).toBe(1)
  const list = (await world.call('GET', '/eval')).body
  expect(JSON.stringify([done, list, samples])).not.toContain(apiKey)
  const { redis } = world.platform
  const keys = await keysOf(redis, `*${id}*`)
  expect(keys.length).toBeGreaterThan(2)
  for (const key of await keysOf(redis, `*${world.prefix}*`))
    expect((await redis.dump(key))?.includes(apiKey)).not.toBe(true)
})

it('a wrong key fails the eval at once with its reason, without the key in it; with the right key it goes on', async () => {
  const model = await startMockModel({ server: knowledge, accuracy: 1, apiKey: 'right' })
  const place = { name: 'm', base_url: model.url, api_key: 'wrong-key-77' }
  const { body } = await world.call('POST', '/eval', { model: place, suite: 'smoke' })
  const failed = await over(body.id)
  expect(failed).toMatchObject({ status: 'failed', detail: expect.stringContaining('rejects the API key (HTTP 401') })
  expect(JSON.stringify(failed)).not.toContain('wrong-key-77')
  expect((await world.call('POST', `/eval/${body.id}/resume`, { api_key: 'right' })).status).toBe(202)
  expect(await over(body.id)).toMatchObject({ status: 'done', failures: [], result: { scored: 20, mean_score: 1 } })
  expect(model.counts.right).toBe(20) // no sample twice
  await model.close()
})

it('an answer to a wrong key that comes after the eval was resumed with the right one does not fail it', async () => {
  const [second, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let refused = 0
  const server = createServer(async ({ headers }, response) => {
    if (headers.authorization === 'Bearer right') {
      const choice = { index: 0, message: { role: 'assistant', content: '<answer>0</answer>' }, finish_reason: 'stop' }
      response.setHeader('content-type', 'application/json')
      return response.end(
        JSON.stringify({ id: 'c', object: 'chat.completion', created: 0, model: 'm', choices: [choice] }),
      )
    }
    if (++refused === 2) second.resolve()
    await [second, resumed][refused - 1]?.promise
    response.writeHead(401).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const model = { name: 'm', base_url, api_key: 'wrong' }
  const { body } = await world.call('POST', '/eval', { model, concurrency: 2, suite: { tasks: ['gcd'], n: 20 } })
  expect(await over(body.id)).toMatchObject({ status: 'failed' })
  await world.call('POST', `/eval/${body.id}/resume`, { api_key: 'right' })
  resumed.resolve()
  expect(await over(body.id)).toMatchObject({ status: 'done', failures: [], result: { scored: 20 } })
  server.close()
})

it('a key from a file that ends with a newline is known for the key where the model’s server repeats it', async () => {
  const server = createServer((request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: `no such key: ${request.headers.authorization}` } }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const model = { name: 'm', base_url, api_key: 'wrong-key-78\n' }
  const { body } = await world.call('POST', '/eval', { model, suite: { tasks: ['gcd'], n: 1 } })
  expect((await over(body.id)).detail).toContain('HTTP 401 no such key: Bearer [key]')
  server.close()
})

it('stops when the first 32 samples have failed in the same way, with the reason once', async () => {
  const model = await startMockModel({ server: knowledge, rejections: 1 })
  const suite = { tasks: ['gcd'], n: 300 }
  const { body } = await world.call('POST', '/eval', { model: { name: 'm', base_url: model.url }, suite })
  const failed = await over(body.id)
  const detail = expect.stringMatching(/^The first 32 samples failed in the same way: HTTP 400 /)
  expect(failed).toMatchObject({ status: 'failed', detail })
  expect(failed.progress.done).toBeLessThan(100)
  const [failure] = failed.failures
  expect(failed.failures).toEqual([
    { code: 'generation_failed', reason: expect.any(String), count: expect.any(Number) },
  ])
  expect(failure?.count).toBeGreaterThanOrEqual(32)
  await model.close()
})

it('is cancelled in the middle and resumed without asking again for what is done', async () => {
  const model = await startMockModel({ server: knowledge, accuracy: 1, latencyMs: 150, apiKey: 'k' })
  const place = { name: 'm', base_url: model.url, api_key: 'k' }
  const { body } = await world.call('POST', '/eval', {
    model: place,
    suite: 'smoke',
    samples_per_item: 3,
    concurrency: 4,
  })
  await until(
    async () => (await world.call('GET', `/eval/${body.id}`)).body,
    ({ progress }) => progress.done >= 8,
  )
  const cancelled = (await world.call('DELETE', `/eval/${body.id}`)).body
  expect(cancelled).toMatchObject({ status: 'cancelled', result: { mean_score: 1, n: 60 } })
  expect(cancelled.result.missing).toBeGreaterThan(0)
  expect(await world.platform.redis.get(`{${world.prefix}:generation-job:${body.id}}:model-api-key`)).toBeNull()
  const resume = () => world.call('POST', `/eval/${body.id}/resume`, { api_key: 'k' })
  for (const again of await Promise.all([resume(), resume()]))
    expect([again.status, again.body.status]).toEqual([202, 'running'])
  expect((await over(body.id)).result).toMatchObject({ mean_score: 1, scored: 60, missing: 0 })
  expect(model.counts.right).toBeLessThanOrEqual(60 + 4) // those in flight were asked for twice
  await model.close()
})

it('several at once share the workers: the small one does not wait for the large one', async () => {
  const model = await startMockModel({ server: knowledge, accuracy: 1, latencyMs: 150 })
  const place = { name: 'm', base_url: model.url }
  const large = { model: place, suite: 'smoke', samples_per_item: 40, concurrency: 64 }
  const big = (await world.call('POST', '/eval', large)).body
  const small = (await world.call('POST', '/eval', { model: place, suite: 'smoke', concurrency: 8 })).body
  expect((await over(small.id)).result.mean_score).toBe(1)
  expect((await world.call('GET', `/eval/${big.id}`)).body.status).toBe('running')
  await world.call('DELETE', `/eval/${big.id}`)
  await model.close()
})

it('a run’s eval has its prompt, rules and tasks, and makes its curve', async () => {
  await world.call('PUT', '/runs/curve', {
    tasks: ['leg_counting', 'gcd'],
    num_eval_samples_per_task: 3,
    system_prompt: 'Be brief.',
    extraction: 'last_tag',
    dual_format: false,
  })
  const first = await run({ accuracy: 1 }, { suite: 'run', run: 'curve', step: 0, labels: ['base'] })
  const second = await run({ accuracy: 0 }, { suite: 'run', run: 'curve', step: 10, labels: { lr: '1e-5' } })
  expect(first.result).toMatchObject({
    n: 6,
    mean_score: 1,
    repeat: { system_prompt: 'Be brief.', extraction: 'last_tag' },
  })
  expect(first.done.suite.sha256).toMatch(/^[0-9a-f]{64}$/)
  expect(second.done.suite).toEqual(first.done.suite)
  for (const { item_id } of first.samples) expect(Number(item_id.split('.')[1])).toBe(2 ** 30 + 123)
  const curve = (await world.call('GET', '/eval?run=curve')).body.evals
  expect(curve.map(({ step, result }: Eval) => [step, result?.n])).toEqual([
    [10, 6],
    [0, 6],
  ])
  expect((await world.call('GET', '/eval?label=base')).body.evals).toHaveLength(1)
  expect((await world.call('GET', '/eval?run=curve&label=lr=1e-5')).body.evals).toHaveLength(1)

  const { status, body } = await world.call('GET', `/eval/compare?a=${first.id}&b=${second.id}`)
  expect(status).toBe(200)
  expect(body).toMatchObject({ n: 6, a: { mean_score: 1 }, suite: { name: 'run', items: 6 } })
  expect(Object.keys(body.tasks)).toEqual(['gcd', 'leg_counting'])
  expect(body.difference).toBeCloseTo(1 - body.b.mean_score, 12)
  expect(body.confidence_95.every((bound: number) => Math.abs(bound) <= 1)).toBe(true)
  expect(body.tasks.gcd).toMatchObject({ n: 3, verdict: 'too_few_items', p: null, confidence_95: null })
  expect(body.a).toMatchObject({ id: first.id, model: { name: expect.any(String) }, run: 'curve' })

  const list = async (query = '') => {
    const answer = await world.app.inject({ url: `/eval/compare/items?a=${first.id}&b=${second.id}${query}` })
    expect(answer.headers['content-type']).toContain('application/x-ndjson')
    return answer.body
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }
  const flipped = await list()
  expect(flipped).toHaveLength(body.only_a_right + body.only_b_right)
  expect(flipped).toHaveLength(Math.round(6 * (1 - body.b.mean_score)))
  for (const { right_in, a, b, item_id } of flipped) {
    expect([right_in, a.score, b.score]).toEqual(['a', 1, 0])
    const samples = await world.app.inject({ url: `/eval/${second.id}/samples` })
    const line = samples.body.split('\n').find((text) => text.includes(`"${b.sample_id}"`)) ?? '{}'
    expect(JSON.parse(line)).toMatchObject({ item_id, answer: b.answer })
  }
  expect(await list('&right_in=b')).toEqual([])
  expect(await list('&task=gcd')).toHaveLength(flipped.filter(({ task }: { task: string }) => task === 'gcd').length)
  expect(await list('&limit=1')).toHaveLength(Math.min(1, flipped.length))
  expect((await world.call('GET', '/eval?q=curve%20base')).body.evals).toHaveLength(1)
  expect((await world.call('GET', '/eval?q=curve%20nothing-like-it')).body.evals).toEqual([])
  expect((await world.call('GET', `/eval?model=${second.done.model.name}&run=curve`)).body.evals).toHaveLength(2)
})

it('scores are corrected for what guessing earns, and unknown floors are said', async () => {
  const { cards } = world.features.tasks
  const floor = cards.guessFloor('acre', null, 'upstream')
  expect(floor).toBeGreaterThan(0.1)
  const suite = { tasks: ['acre'], n: 8, seed: 5 }
  const right = await run({ accuracy: 1 }, { suite })
  const half = await run({ accuracy: 0.5, seed: 3 }, { suite })
  expect(right.result).toMatchObject({ guess_floor: expect.closeTo(floor, 12), guess_floor_unknown: 0, lift: 1 })
  const { mean_score, lift, confidence_95, lift_confidence_95, tasks } = half.result
  expect(lift).toBeCloseTo((mean_score - floor) / (1 - floor), 12)
  expect(lift_confidence_95[0]).toBeCloseTo((confidence_95[0] - floor) / (1 - floor), 12)
  expect(tasks.acre.lift).toBe(lift)
  const { body } = await world.call('GET', `/eval/compare?a=${right.id}&b=${half.id}`)
  expect(body).toMatchObject({ guess_floor: expect.closeTo(floor, 12), a: { lift: 1 }, b: { lift } })
  expect(body.lift_difference).toBeCloseTo((1 - mean_score) / (1 - floor), 12)
  expect(body.tasks.acre.lift_difference).toBeCloseTo(body.lift_difference, 12)

  const custom = { tasks: ['gcd'], n: 3, config: { max_value: 77 } }
  const { result } = await run({ accuracy: 1 }, { suite: custom })
  expect(result).toMatchObject({ guess_floor: 0, guess_floor_unknown: 3, lift: 1 })
})

it('evals of different suites are not compared', async () => {
  const a = await run({ accuracy: 1 })
  const b = await run({ accuracy: 1 }, { suite: { tasks: ['gcd'], n: 2, seed: 3 } })
  expect((await world.call('GET', `/eval/compare?a=${a.id}&b=${b.id}`)).body.code).toBe('invalid_request')
})

it('the report is Markdown or JSON; names of models are text in it', async () => {
  const model = await startMockModel({ server: knowledge, accuracy: 0.5 })
  const place = { name: '<script>alert(1)</script>|&lt;b&gt;\u001B[2J_x_', base_url: model.url }
  const { body } = await world.call('POST', '/eval', { model: place, suite: { categories: ['arithmetic'], n: 1 } })
  await over(body.id)
  await model.close()
  const markdown = await world.app.inject({ url: `/eval/${body.id}/report` })
  expect(markdown.headers['content-type']).toContain('text/markdown')
  expect(markdown.body).toContain('| leg_counting |')
  expect(markdown.body).toContain('# \\<script\\>alert(1)\\</script\\>\\|\\&lt;b\\&gt;\uFFFD\\[2J_x\\_ on custom\n')
  expect((await world.app.inject({ url: `/eval/${body.id}/report?format=markdown` })).body).toBe(markdown.body)
  const json = await world.call('GET', `/eval/${body.id}/report?format=json`)
  expect(json.body).toEqual((await world.call('GET', `/eval/${body.id}`)).body)
  expect(await world.call('GET', `/eval/${body.id}/report?format=html`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', errors: [{ path: 'format' }] },
  })

  const refusing = createServer((request, response) => {
    request.resume()
    response.writeHead(404).end('<img src=x onerror=alert(1)> [a](javascript:b)')
  })
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve))
  const base_url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/v1`
  const { body: gone } = await world.call('POST', '/eval', { model: { name: 'm', base_url }, suite: 'smoke' })
  expect((await over(gone.id)).detail).toContain('<img')
  refusing.close()
  const report = (await world.app.inject({ url: `/eval/${gone.id}/report` })).body
  expect(report).toContain('\\<img src=x onerror=alert(1)\\> \\[a\\](javascript:b)')
  expect(report).not.toMatch(/(?<!\\)[<[](?:img|a\])/)
})

it('events tell the progress, resume where they were left, and end with the result', async () => {
  const { id, done } = await run({ accuracy: 1 })
  const read = async (headers = {}) => {
    const response = await world.app.inject({ url: `/eval/${id}/events`, headers })
    expect(response.headers['content-type']).toContain('text/event-stream')
    return [...response.body.matchAll(/id: (\S+)\nevent: (\w+)\ndata: (.*)\n\n/g)].map(([, at, event, data]) => ({
      at: at ?? '',
      event,
      data: JSON.parse(data ?? ''),
    }))
  }
  const all = await read()
  expect(all[0]?.event).toBe('progress')
  expect(all.at(-2)?.data).toEqual({ done: 20, total: 20, failed: 0, mean_score: 1 })
  expect(all.at(-1)).toMatchObject({ event: 'result', data: { id, status: 'done', result: done.result } })
  expect(await read({ 'last-event-id': all.at(-2)?.at })).toEqual(all.slice(-1))
  expect(await read({ 'last-event-id': all.at(-1)?.at })).toEqual([])
})

it('an Idempotency-Key stands for one eval; with another body it is refused', async () => {
  const body = { model: null, suite: 'smoke' }
  const headers = { 'idempotency-key': 'once' }
  const answers = await Promise.all([1, 2, 3].map(() => world.call('POST', '/eval', body, headers)))
  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1)
  expect(answers.every(({ status }) => status === 202)).toBe(true)
  const other = await world.call('POST', '/eval', { model: null, suite: 'original' }, headers)
  expect(other).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  expect((await world.call('POST', '/eval', body)).body.id).not.toBe(answers[0]?.body.id)
})

it('what cannot be is refused by name', async () => {
  const post = async (body: object) => (await world.call('POST', '/eval', { model: null, ...body })).body
  expect(await post({ suite: 'nonsense' })).toMatchObject({ code: 'unknown_suite' })
  expect(await post({ suite: { tasks: ['nonsense'] } })).toMatchObject({ code: 'unknown_task' })
  expect(await post({ suite: 'run' })).toMatchObject({ code: 'invalid_request', errors: [{ path: 'run' }] })
  expect(await post({ temprature: 1 })).toMatchObject({ errors: [{ path: 'temprature' }] })
  expect(await post({ request: { messages: [] } })).toMatchObject({ code: 'invalid_request' })
  expect((await world.call('GET', '/eval/eval-000000000000')).body.code).toBe('unknown_eval')
  for (const base_url of [
    'http://169.254.169.254/v1',
    'http://10.0.0.1/v1',
    'ftp://example.com',
    'http://u:p@127.0.0.1/v1',
    'http://127.0.0.1/v1?',
    'http://127.0.0.1/v1#',
  ])
    expect((await post({ model: { name: 'm', base_url } })).errors).toMatchObject([{ path: 'model.base_url' }])
  for (const api_key of ['\n', 'two\nlines', 'ключ'])
    expect((await post({ model: { name: 'm', base_url: 'http://127.0.0.1:9/v1', api_key } })).errors).toMatchObject([
      { path: 'model.api_key' },
    ])
})

it('suites can be looked at', async () => {
  const { suites } = (await world.call('GET', '/eval/suites')).body
  expect(suites.map(({ name }: { name: string }) => name).toSorted()).toEqual([
    'easy-2',
    'easy-3',
    'full',
    'full-2',
    'hard-2',
    'hard-3',
    'ladder-2',
    'ladder-3',
    'original',
    'original-2',
    'smoke',
    'smoke-2',
  ])
  const { body } = await world.call('GET', '/eval/suites/original')
  expect(body).toMatchObject({ name: 'original', engine: '0.1.25', items: 100 })
  expect(body.recipes).toHaveLength(100)
  expect(body.struck).toHaveLength(13)
  expect(body.recipes.map(({ id }: { id: string }) => id)).toContain(body.struck[0].id)
  expect(new Set(body.recipes.map(({ task }: { task: string }) => task)).size).toBe(20)
  expect((await world.call('GET', '/eval/suites/none')).body.code).toBe('unknown_suite')
})
