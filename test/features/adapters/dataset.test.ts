import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import type { Item } from '@reasoning-gym-server/contract/item'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { TRAINING_SEEDS_START } from '@reasoning-gym-server/contract/recipe'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { seedAt } from '../../../src/features/runs/sequence/sequence.ts'
import { openWorld, until, type World } from '../../world.ts'

const SUITES = new URL('../../../suites/', import.meta.url)
const LINES = readdirSync(SUITES)
  .filter((name) => name.endsWith('.tsv'))
  .flatMap((name) => readFileSync(new URL(name, SUITES), 'utf8').trimEnd().split('\n'))
/** The library raises at one seed in nine. */
const TIGHT_MAZE = { min_grid_size: 5, max_grid_size: 5, min_dist: 6, max_dist: 6 }
const QUICK = 'leg_counting,chain_sum,gcd,base_conversion'

let world: World
let node: World
const logged: string[] = []
beforeAll(async () => {
  world = await openWorld({ onLog: (line) => void logged.push(line) })
  node = await openWorld() // with a Redis prefix and caches of its own
  await world.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => Promise.all([world.close(), node.close()]))

const fetchText = async (query: string, { from = world, headers = {}, path = '/dataset.jsonl' } = {}) => {
  const { statusCode, headers: answered, body } = await from.app.inject({ url: `${path}?${query}`, headers })
  return { status: statusCode, headers: answered, text: body }
}
const fetchRows = async (query: string, options = {}) => {
  const { status, text } = await fetchText(query, options)
  expect([status, text.slice(0, status === 200 ? 0 : 300)]).toEqual([200, ''])
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
const takeStep = async (run: string, count: number): Promise<Item[]> =>
  (
    await until(
      () => world.call('POST', '/items', { run, step: 0, count }, { prefer: 'wait=20' }),
      ({ status }) => status === 200,
    )
  ).body.items

it('has the items that a run with the same tasks and seed hands out, and hands out nothing', async () => {
  const settings = {
    tasks: [
      { task: 'category:arithmetic', weight: 3 },
      'caesar_cipher',
      { task: 'maze', config: TIGHT_MAZE, weight: 300 },
    ],
    seed: 7,
    complexity_mode: 'random',
    exclude_eval_items: true,
    system_prompt: 'Say it.',
  }
  await world.call('PUT', '/runs/lender', settings)
  const rows = await fetchRows('run=lender&count=40')
  expect((await world.call('GET', '/runs/lender')).body.progress.items).toBe(0)
  const items = await takeStep('lender', 40)
  expect(rows).toEqual(
    items.map(({ id, messages, task, category, difficulty }) => ({
      prompt: messages,
      item_id: id,
      task,
      category,
      difficulty: difficulty ?? -1,
    })),
  )
  expect(items.some(({ recipe }, k) => recipe.seed !== seedAt(7, k))).toBe(true) // some seeds had none
  expect(rows.every(({ item_id }) => decodeItemId(item_id).seed >= TRAINING_SEEDS_START)).toBe(true)
})

it('is the same on every node and each time, and goes on from any row', async () => {
  const query = `tasks=${QUICK}&difficulty=0.1,0.9&count=150&format=verl`
  const [one, again, other] = [await fetchText(query), await fetchText(query), await fetchText(query, { from: node })]
  expect(one.text.split('\n')).toHaveLength(151)
  expect([again.text, other.text]).toEqual([one.text, one.text])
  expect([again.headers.etag, other.headers.etag]).toEqual([one.headers.etag, one.headers.etag])
  for (const from of [1, 16, 100, 149, 150]) {
    const rest = await fetchText(`${query}&from=${from}`)
    expect([rest.status, rest.headers['x-rows']]).toEqual([200, String(150 - from)])
    expect(rest.text).toBe(one.text.split('\n').slice(from).join('\n'))
  }
})

describe('rows', () => {
  it('are scored by their item ID', async () => {
    const [{ item_id }] = await fetchRows('tasks=leg_counting&count=1')
    const { body } = await world.call('GET', `/items/${item_id}?reveal=true`)
    const scored = await world.call('POST', '/score', { rollouts: [{ item_id, answer: body.answer }] })
    expect(scored.body.rewards).toEqual([1])
  })

  it('have the instructions where the trainer keeps them', async () => {
    const [system] = await fetchRows('tasks=gcd&count=1')
    const [user] = await fetchRows('tasks=gcd&count=1&prompt=user')
    const [instructions, question] = system.prompt.map(({ content }: { content: string }) => content)
    expect(user.prompt).toEqual([{ role: 'user', content: `${instructions}\n\n${question}` }])
    await world.call('PUT', '/runs/in-user', { system_prompt: 'Say it.', system_prompt_role: 'user' })
    const [lent] = await fetchRows('tasks=gcd&count=1&run=in-user')
    expect(lent.prompt).toEqual([{ role: 'user', content: `Say it.\n\n${question}` }])
    const [back] = await fetchRows('tasks=gcd&count=1&run=in-user&prompt=system')
    expect(back.prompt[0]).toEqual({ role: 'system', content: 'Say it.' })
  })

  it('are of the tasks, the seed and the difficulty that the query names, whatever the run has', async () => {
    await world.call('PUT', '/runs/narrow', { tasks: [{ task: 'gcd', config: { max_value: 9 } }], seed: 5 })
    const [lent] = await fetchRows('run=narrow&count=1')
    expect(decodeItemId(lent.item_id)).toMatchObject({ task: 'gcd', config: { max_value: 9 }, difficulty: null })
    const named = await fetchRows(`run=narrow&count=30&tasks=category:arithmetic&tasks=caesar_cipher&difficulty=1`)
    expect(new Set(named.map(({ category }) => category)).has('arithmetic')).toBe(true)
    expect(new Set(named.map(({ difficulty }) => difficulty))).toEqual(new Set([1]))
    const [seeded] = await fetchRows('run=narrow&count=1&seed=6')
    expect(seeded.item_id).not.toBe(lent.item_id)
    expect(await fetchRows('run=narrow&count=1&seed=5')).toEqual([lent])
    const everything = await fetchRows('run=narrow&count=12&tasks=all')
    expect(new Set(everything.map(({ task }) => task)).size).toBeGreaterThan(3)
  })
})

describe('items that nobody should train on', () => {
  const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
  const heldOut = new Set(LINES.map((line) => line.split('\t')[1]))
  const questionOf = ({ prompt }: { prompt: Item['messages'] }) => prompt.at(-1)?.content ?? ''

  it('questions of frozen suites give way to others, the same ones each time', async () => {
    await world.call('PUT', '/runs/open', { tasks: ['coin_flip'], exclude_eval_items: false })
    const handedOut = await takeStep('open', 60)
    const isHeldOut = handedOut.map(({ question }) => heldOut.has(hashOf(question)))
    expect(isHeldOut).toContain(true)
    const rows = await fetchRows('tasks=coin_flip&count=60')
    expect(rows.filter((row) => heldOut.has(hashOf(questionOf(row))))).toEqual([])
    expect(rows.map(({ item_id }, k) => item_id !== handedOut[k]?.id)).toEqual(isHeldOut)
    expect(await fetchRows('tasks=coin_flip&count=60', { from: node })).toEqual(rows)
  })

  it('a row takes another task where its own has nothing else; a data set of nothing else fails with its reason', async () => {
    const config = { min_initial_blocks: 1, max_initial_blocks: 1 } // asks one question, of a suite
    await world.call('PUT', '/runs/hopeless', { tasks: [{ task: 'string_synthesis', config }] })
    const { status, text } = await fetchText('run=hopeless&count=3')
    expect([status, JSON.parse(text).code]).toEqual([422, 'make_failed'])
    expect(JSON.parse(text).detail).toContain('frozen suite')
    for (const url of ['/dataset.jsonl?run=hopeless&count=2000', '/dataset.jsonl.gz?run=hopeless&count=3']) {
      const { statusCode, headers, body } = await world.app.inject({ url })
      expect([statusCode, JSON.parse(body).code]).toEqual([422, 'make_failed'])
      expect(headers['content-type']).toContain('application/problem+json')
    }
    await world.call('PUT', '/runs/hopeful', { tasks: [{ task: 'string_synthesis', config }, 'gcd'] })
    const rows = await fetchRows('run=hopeful&count=20')
    expect(rows.map(({ task }) => task)).toEqual(Array(20).fill('gcd'))
    expect(await fetchRows('run=hopeful&count=20', {})).toEqual(rows)
  }, 300_000) // some thousand items
})

describe('the wire', () => {
  /** Every item that the engine is asked to make. */
  const watchMaking = () => vi.spyOn(world.engine, 'generateEach')
  /** How many there are once they do not become more. */
  const untilMakingStops = async (making: ReturnType<typeof watchMaking>): Promise<number> => {
    const count = () => making.mock.calls.reduce((sum, [, , places]) => sum + places.length, 0)
    let last = -1
    await until(
      async () => {
        const [before, now] = [last, count()]
        last = now
        return now === before
      },
      (hasStopped) => hasStopped,
    )
    return last
  }

  it('HEAD and a known entity tag make no items, and answer what GET would', async () => {
    const url = `/dataset.jsonl?tasks=${QUICK}&count=9&seed=901`
    const making = watchMaking()
    try {
      const head = await world.app.inject({ method: 'HEAD', url })
      expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([200, '', undefined])
      const etag = String(head.headers.etag)
      const known = await world.app.inject({ url, headers: { 'if-none-match': `"x", W/${etag}` } })
      expect([known.statusCode, known.body, known.headers.etag]).toEqual([304, '', etag])
      expect(making).not.toHaveBeenCalled()
      const full = await world.app.inject({ url, headers: { 'if-none-match': '"x"', 'accept-encoding': 'gzip' } })
      expect([full.statusCode, full.headers.etag, full.headers['content-type']]).toEqual([
        200,
        etag,
        head.headers['content-type'],
      ])
      expect(full.headers['content-encoding']).toBeUndefined()
      expect(making).toHaveBeenCalled()
    } finally {
      making.mockRestore()
    }
    expect((await world.app.inject({ method: 'HEAD', url: '/dataset.jsonl?run=nobody' })).statusCode).toBe(404)
  })

  it('short files come in byte ranges, as data loaders read streams', async () => {
    const url = `/dataset.jsonl?tasks=${QUICK}&count=20&seed=903`
    const first = await world.app.inject({ url, headers: { range: 'bytes=0-99' } })
    const whole = await world.app.inject({ url })
    const { length } = whole.rawPayload
    expect([whole.statusCode, whole.headers['content-length']]).toEqual([200, String(length)])
    expect([first.statusCode, first.headers['content-range'], first.body]).toEqual([
      206,
      `bytes 0-99/${length}`,
      whole.rawPayload.subarray(0, 100).toString(),
    ])
    const partOf = async (range: string, more = {}) => {
      const { statusCode, rawPayload, headers } = await world.app.inject({ url, headers: { range, ...more } })
      return [statusCode, rawPayload.toString(), headers['content-range']]
    }
    expect(await partOf('bytes=100-')).toEqual([206, whole.body.slice(100), `bytes 100-${length - 1}/${length}`])
    expect(await partOf('bytes=100-999999999')).toEqual(await partOf('bytes=100-'))
    expect(await partOf(`bytes=${length}-`)).toEqual([416, '', `bytes */${length}`])
    expect(await partOf('bytes=0-9', { 'if-range': '"another"' })).toEqual([200, whole.body, undefined])
    for (const unread of ['bytes=0-1,5-6', 'bytes=9-2', 'rows=1-2', 'bytes=-5'])
      expect(await partOf(unread)).toEqual([200, whole.body, undefined])
    const head = await world.app.inject({ method: 'HEAD', url })
    expect([head.headers['content-length'], head.headers['accept-ranges'], head.body]).toEqual([
      String(length),
      'bytes',
      '',
    ])
  })

  it('compressed files have the same rows, and the same bytes each time', async () => {
    const query = `tasks=${QUICK}&count=1500&seed=904`
    const plain = await world.app.inject({ url: `/dataset.jsonl?${query}` })
    const packed = await world.app.inject({ url: `/dataset.jsonl.gz?${query}&name=rows.jsonl.gz` })
    expect([packed.headers['content-type'], packed.headers['content-encoding']]).toEqual([
      'application/gzip',
      undefined,
    ])
    expect(gunzipSync(packed.rawPayload).toString()).toBe(plain.body)
    expect(packed.headers.etag).not.toBe(plain.headers.etag)
    const other = await node.app.inject({ url: `/dataset.jsonl.gz?${query}` })
    expect(other.rawPayload.equals(packed.rawPayload)).toBe(true)
  })

  it('the entity tag changes with what changes the rows', async () => {
    await world.call('PUT', '/runs/tagged', { tasks: ['gcd'] })
    const tagOf = async (query: string) =>
      (await world.app.inject({ method: 'HEAD', url: `/dataset.jsonl?${query}` })).headers.etag
    const queries = ['', 'seed=1', 'count=2', 'from=1', 'tasks=gcd', 'difficulty=0', 'difficulty=0,1', 'format=verl']
    const tags = await Promise.all([...queries, 'prompt=user', 'run=tagged&tasks=all'].map(tagOf))
    expect(new Set(tags.slice(0, -1)).size).toBe(9)
    expect(tags.at(-1)).toBe(tags[0]) // the run lends nothing that differs
    const before = await tagOf('run=tagged')
    await world.call('PUT', '/runs/tagged', { system_prompt: null })
    expect(await tagOf('run=tagged')).not.toBe(before)
  })

  it('a short file that its first reader did not wait for is whole for the next', async () => {
    const { port } = world.app.server.address() as AddressInfo
    const path = '/dataset.jsonl?count=1000&tasks=leg_counting&seed=905'
    const making = watchMaking()
    try {
      const request = get({ port, path }).on('error', () => {}) // it is broken off
      await until(
        async () => making.mock.calls.length,
        (calls) => calls > 2, // so the first rows are made
      )
      request.destroy()
      await untilMakingStops(making)
    } finally {
      making.mockRestore()
    }
    expect((await world.app.inject({ url: path })).body.trimEnd().split('\n')).toHaveLength(1000)
  })

  it('equal data sets that are read at the same time are made once', async () => {
    const making = vi.spyOn(world.features.items.items, 'getOrStartEach')
    const read = await Promise.all([1, 2, 3].map(() => fetchText(`tasks=${QUICK}&seed=4711&count=100`)))
    expect(new Set(read.map(({ text }) => text.split('\n').length))).toEqual(new Set([101]))
    expect(new Set(read.map(({ text }) => text)).size).toBe(1)
    expect(making.mock.calls.flatMap(([recipes]) => recipes)).toHaveLength(100)
    making.mockRestore()
  })

  it('stops making items when the client goes', async () => {
    const { port } = world.app.server.address() as AddressInfo
    const making = watchMaking()
    try {
      await new Promise<void>((resolve, reject) => {
        const request = get(
          { port, path: '/dataset.jsonl?count=100000&tasks=leg_counting&seed=902' },
          (response) => void response.once('data', () => resolve(void request.destroy())),
        ).on('error', reject)
      })
      const last = await untilMakingStops(making)
      expect(last).toBeGreaterThan(0)
      expect(last).toBeLessThan(2000)
    } finally {
      making.mockRestore()
    }
  })

  it.each([
    ['format=parquet', 400, 'nemo-gym'],
    ['difficulty=2', 400, 'from 0 to 1'],
    ['difficulty=0.8,0.2', 400, 'from 0 to 1'],
    ['difficulty=', 400, 'from 0 to 1'],
    ['tasks=', 400, 'category:NAME'],
    ['tasks=No%20Task', 400, 'category:NAME'],
    ['tasks=no_task', 404, 'GET /tasks'],
    ['tasks=gcd,category:sports', 404, 'arithmetic'],
    ['run=nobody', 404, 'nobody'],
    ['count=1000001', 400, '1000000'],
    ['count=0', 400, '1'],
    ['count=10&from=11', 400, 'at most 10'],
    ['prompt=none', 400, 'user'],
    ['seed=-1', 400, 'seed'],
    ['tsaks=gcd', 400, 'tsaks'],
  ])('%s is a %i that says what to write', async (query, status, hint) => {
    const answer = await fetchText(query)
    expect([answer.status, answer.headers['content-type']]).toEqual([
      status,
      expect.stringMatching(/^application\/problem\+json/),
    ])
    expect(answer.text).toContain(hint)
  })
})

it('a suite is a data set as well, in its order', async () => {
  const { body } = await world.call('GET', '/eval/suites/smoke')
  const ids = body.recipes.map(({ id }: { id: string }) => id)
  const path = '/eval/suites/smoke/dataset.jsonl'
  const rows = await fetchRows('format=verl&prompt=user', { path })
  expect(rows.map(({ extra_info }) => extra_info.item_id)).toEqual(ids)
  expect(new Set(rows.map(({ extra_info, prompt }) => `${extra_info.split} ${prompt.length}`))).toEqual(
    new Set(['test 1']),
  )
  const rest = await fetchRows('from=18', { path })
  expect(rest.map(({ item_id }) => item_id)).toEqual(ids.slice(18))
  expect((await fetchText('', { path: '/eval/suites/none/dataset.jsonl' })).status).toBe(404)
  expect((await fetchText('count=3', { path })).status).toBe(400)
})

it('a reader that leaves before its first row is no failure of the server', async () => {
  const { port } = world.app.server.address() as AddressInfo
  const { items } = world.features.items
  const [asked, gate, left] = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
  const getOrStartEach = items.getOrStartEach.bind(items)
  const spy = vi.spyOn(items, 'getOrStartEach').mockImplementationOnce(async (recipes) => {
    asked?.resolve()
    await gate?.promise
    return getOrStartEach(recipes)
  })
  world.app.server.once('connection', (socket) => socket.once('close', () => left?.resolve()))
  const request = get({ port, host: '127.0.0.1', path: `/dataset.jsonl?tasks=gcd&count=5000`, agent: false })
  request.on('error', () => {}) // the test closed the connection
  await asked?.promise
  request.destroy()
  await left?.promise
  gate?.resolve()
  await fetchRows('tasks=gcd&count=1&seed=999')
  expect(logged.filter((line) => JSON.parse(line).level >= 40)).toEqual([])
  spy.mockRestore()
})
