import { EvalSample, EvalSamplePage } from '@reasoning-gym-server/contract/eval-sample'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, type World } from '../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

interface Wanted {
  sample_id: string
  item_id: string
  messages: { role: string; content: string }[]
}

const begin = async (body: object) => (await world.call('POST', '/eval', { model: null, ...body })).body
const itemsOf = async (id: string, query = ''): Promise<Wanted[]> =>
  (await world.call('GET', `/eval/${id}/items${query}`)).body.items
const rightAnswer = async ({ item_id }: Wanted) =>
  (await world.call('GET', `/items/${item_id}?reveal=true`)).body.answer

it('ranks have disjoint shares; the same sample counts once; the last one in ends the eval', async () => {
  const { id } = await begin({ suite: { tasks: ['gcd', 'chain_sum'], n: 3 }, samples_per_item: 2 })
  const shares = await Promise.all([0, 1, 2].map((rank) => itemsOf(id, `?rank=${rank}&ranks=3`)))
  const all = await itemsOf(id)
  expect(
    shares
      .flat()
      .map(({ sample_id }) => sample_id)
      .toSorted(),
  ).toEqual(all.map(({ sample_id }) => sample_id).toSorted())
  expect(all).toHaveLength(12)
  expect(all[0]?.messages.map(({ role }) => role)).toEqual(['system', 'user'])
  for (const [rank, share] of shares.entries()) {
    const completions = await Promise.all(
      share.map(async (wanted) => ({
        sample_id: wanted.sample_id,
        completion: `<answer>${rank === 2 ? 'no' : await rightAnswer(wanted)}</answer>`,
        length_tokens: 10,
      })),
    )
    const post = () => world.call('POST', `/eval/${id}/completions`, { completions })
    expect((await post()).body).toMatchObject({ new: 4, progress: { done: 4 * (rank + 1), total: 12 } })
    expect((await post()).body.new).toBe(0)
    const other = completions.map(({ sample_id }) => ({ sample_id, completion: '<answer>other</answer>' }))
    expect((await world.call('POST', `/eval/${id}/completions`, { completions: other })).body.new).toBe(0)
  }
  const { body } = await world.call('GET', `/eval/${id}`)
  expect(body).toMatchObject({
    status: 'done',
    model: null,
    result: { n: 12, scored: 12, missing: 0, mean_tokens: 10, total_tokens: 120 },
  })
  expect(body.result.accuracy).toBeCloseTo(8 / 12, 12)
})

it('pages and searches of long messages end early, and go on from there', async () => {
  const { id } = await begin({ suite: { tasks: ['gcd'], n: 5 } })
  const long = 'x'.repeat(9 * 1024 * 1024) // of which little is left once it is compressed
  for (const { sample_id } of await itemsOf(id)) {
    const messages = [{ role: 'assistant', content: `${long}<answer>1</answer>` }]
    await world.call('POST', `/eval/${id}/completions`, { completions: [{ sample_id, messages }] })
  }
  const page = async (query: string) => (await world.call('GET', `/eval/${id}/samples?limit=10&${query}`)).body
  expect(await page('')).toMatchObject({ samples: [{ sample_id: 's0' }], next_cursor: 's0' })
  expect(await page('cursor=s3')).toMatchObject({ samples: [{ sample_id: 's4' }], next_cursor: null })
  expect(await page('q=y')).toEqual({ samples: [], next_cursor: 's3', searched: 4, total: 5 })
})

it('what has not come when it is finished is missing, never wrong', async () => {
  const { id } = await begin({ suite: { tasks: ['gcd'], n: 4 } })
  const [first, second] = await itemsOf(id)
  if (!first || !second) throw new Error('no items')
  const completions = [
    { sample_id: first.sample_id, completion: `<answer>${await rightAnswer(first)}</answer>`, finish_reason: 'stop' },
    { sample_id: second.sample_id, completion: '', finish_reason: { type: 'abort' } }, // SGLang's form
  ]
  await world.call('POST', `/eval/${id}/completions`, { completions })
  const { body } = await world.call('POST', `/eval/${id}/finish`)
  expect(body).toMatchObject({
    status: 'done',
    result: { mean_score: 1, scored: 1, unscored: 1, missing: 2, mean_score_failures_wrong: 0.25 },
  })
  expect(body.suite.sha256).toMatch(/^[0-9a-f]{64}$/)
  expect((await world.call('POST', `/eval/${id}/finish`)).body.status).toBe('done')
})

it('a conversation is read as everywhere; a sample of nobody is refused', async () => {
  const { id } = await begin({ suite: { tasks: ['gcd'], n: 1 } })
  const [wanted] = await itemsOf(id)
  if (!wanted) throw new Error('no item')
  const bad = { completions: [{ sample_id: 's99', completion: '' }] }
  expect((await world.call('POST', `/eval/${id}/completions`, bad)).body).toMatchObject({
    code: 'invalid_request',
    errors: [{ path: 'completions.0.sample_id' }],
  })
  const messages = [{ role: 'assistant', content: `<answer>${await rightAnswer(wanted)}</answer>`, reasoning: 'hm' }]
  const { body } = await world.call('POST', `/eval/${id}/completions`, {
    completions: [{ sample_id: wanted.sample_id, messages }],
  })
  expect(body).toMatchObject({ status: 'done', progress: { mean_score: 1 } })
})

it('a sample whose item the library cannot make is not handed out, and the eval ends without it', async () => {
  const config = { min_grid_size: 5, max_grid_size: 5, min_dist: 6, max_dist: 6 } // there is none with index 6
  const { id } = await begin({ suite: { tasks: ['maze'], n: 8, seed: 0, config } })
  const wanted = await itemsOf(id)
  expect(wanted.map(({ sample_id }) => sample_id)).toEqual(['s0', 's1', 's2', 's3', 's4', 's5', 's7'])
  const completions = wanted.map(({ sample_id }) => ({ sample_id, completion: '<answer>6</answer>' }))
  const { body } = await world.call('POST', `/eval/${id}/completions`, { completions })
  expect(body).toMatchObject({ new: 7, status: 'done', progress: { done: 8, failed: 1, mean_score: 1 } })
})

it('a suite of one’s own has a config or a difficulty, not both', async () => {
  const suite = { tasks: ['gcd'], n: 1, config: { min_value: 5 } }
  expect(await begin({ suite: { ...suite, difficulty: 0.5 } })).toMatchObject({
    code: 'invalid_request',
    detail: 'Both config and difficulty are given. Give one of them, or neither.',
    errors: [{ path: 'suite.difficulty' }],
  })
  expect(await begin({ suite: { ...suite, difficulty: null } })).toMatchObject({ status: 'queued' })
})

it('samples are filtered, searched and sorted, page by page', async () => {
  const { id } = await begin({ suite: { tasks: ['gcd', 'chain_sum'], n: 4 }, samples_per_item: 2 })
  const wanted = await itemsOf(id)
  const completions = await Promise.all(
    wanted.slice(0, 15).map(async (one, k) => ({
      sample_id: one.sample_id,
      completion:
        k % 3 === 0
          ? `A HERON <answer>${await rightAnswer(one)}</answer>`
          : k % 3 === 1
            ? 'none'
            : '<answer>-7</answer>',
    })),
  )
  await world.call('POST', `/eval/${id}/completions`, { completions })
  const list = async (query: string) =>
    EvalSamplePage.parse((await world.call('GET', `/eval/${id}/samples?${query}`)).body)
  expect((await list('show=right&q=heron')).samples).toHaveLength(5)
  expect(await list('q=heron&limit=2')).toMatchObject({ total: 16, searched: 4, next_cursor: 's3' })
  expect(
    (await list('show=faults&task=gcd')).samples.every(({ fault, task }) => fault === 'no_answer' && task === 'gcd'),
  ).toBe(true)
  expect((await list('show=unscored')).samples).toMatchObject([{ sample_id: 's15', status: 'missing' }])
  const seen: EvalSample[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: EvalSamplePage = await list(`sort=worst&limit=5${cursor && `&cursor=${cursor}`}`)
    seen.push(...page.samples)
    cursor = page.next_cursor
  }
  expect(new Set(seen.map(({ sample_id }) => sample_id)).size).toBe(16)
  expect(seen.map(({ score }) => score ?? 2)).toEqual(seen.map(({ score }) => score ?? 2).toSorted((a, b) => a - b))
  expect(seen.every((sample) => !('expected' in sample))).toBe(true)
  const one = EvalSample.parse((await world.call('GET', `/eval/${id}/samples/s1`)).body)
  expect(one).toMatchObject({ fault: 'no_answer', expected: await rightAnswer(wanted[0] as Wanted) })
  expect((await world.call('GET', `/eval/${id}/samples/s99`)).body.code).toBe('not_found')
})
