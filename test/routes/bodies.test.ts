import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorld, type World } from '../world.ts'

let world: World
let itemId: string
let port: number

beforeAll(async () => {
  world = await openWorld({ worker: true })
  itemId = (await world.call('POST', '/items', { task: 'leg_counting', seed: 42 })).body.items[0].id
  for (const run of ['packed', 'in-query', 'large']) await world.call('PUT', `/runs/${run}`, {})
  await world.app.listen({ port: 0, host: '127.0.0.1' })
  const address = world.app.server.address()
  port = typeof address === 'object' && address ? address.port : 0
})
afterAll(() => world.close())

const rollouts = [{ completion: '<answer>100</answer>' }, { completion: 'x' }]
const send = (body: Uint8Array | string, headers: Record<string, string>, path = '/rollouts') =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : new Blob([Uint8Array.from(body)]),
  })
const codeOf = async (response: Response) => ((await response.json()) as { code?: string }).code

const LIMIT = 1024 * 1024 // of all addresses that say nothing else

describe('compressed bodies', () => {
  const packers = {
    gzip: gzipSync,
    'x-gzip': gzipSync,
    br: brotliCompressSync,
    deflate: deflateSync,
    zstd: zstdCompressSync,
  }

  it.each(Object.entries(packers))('%s is read', async (encoding, pack) => {
    const body = pack(Buffer.from(JSON.stringify({ run: 'packed', item_id: itemId, group_id: encoding, rollouts })))
    const response = await send(body, { 'content-encoding': encoding, prefer: 'wait=20' })
    expect([response.status, ((await response.json()) as { status: string }).status]).toEqual([200, 'scored'])
  })

  it.each(Object.entries(packers))('%s is held to the limit of what it unpacks to', async (encoding, pack) => {
    const response = await send(pack(Buffer.alloc(LIMIT + 1, 0x20)), { 'content-encoding': encoding }, '/items')
    expect([response.status, await codeOf(response)]).toEqual([413, 'body_too_large'])
  })

  it.each(Object.entries(packers))('%s that is broken or cut off is the client’s fault', async (encoding, pack) => {
    const body = pack(Buffer.from(JSON.stringify({ item_id: itemId, rollouts })))
    for (const bad of [body.subarray(0, body.length - 4), Buffer.from('{"item_id": "x"}')]) {
      const response = await send(bad, { 'content-encoding': encoding })
      expect([response.status, await codeOf(response)]).toEqual([400, 'invalid_request'])
    }
  })

  it('another encoding is refused by name', async () => {
    const response = await send('{}', { 'content-encoding': 'compress' })
    expect([response.status, await codeOf(response)]).toEqual([415, 'unsupported_media_type'])
  })
})

describe('a body over the limit', () => {
  const livez = 'GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n'

  /** Sends a body as a whole before the first look at an answer, then asks something else on the same connection. */
  async function answersTo(body: Buffer, ...headers: string[]): Promise<string> {
    const socket = connect(port, '127.0.0.1')
    const head = ['POST /items HTTP/1.1', 'host: localhost', 'content-type: application/json', ...headers]
    const sent = new Promise((resolve, reject) => {
      socket.once('error', reject)
      socket.write(`${head.join('\r\n')}\r\n\r\n`)
      socket.write(body, resolve)
    })
    await sent
    socket.write(livez)
    let answers = ''
    for await (const bytes of socket) {
      answers += bytes
      if (answers.includes('alive')) break // which destroys the socket
    }
    return answers
  }

  it.each([LIMIT + 1, 24 * LIMIT])('of %i bytes is read to its end, and its connection goes on', async (bytes) => {
    const answers = await answersTo(Buffer.alloc(bytes, 0x20), `content-length: ${bytes}`)
    expect(answers).toMatch(/^HTTP\/1\.1 413 .*body_too_large.*HTTP\/1\.1 200 /s)
  })

  it('is refused at its head: groups may have 64 MiB', async () => {
    const socket = connect(port, '127.0.0.1')
    const head = ['POST /rollouts HTTP/1.1', 'host: localhost', 'content-type: application/json']
    socket.write([...head, `content-length: ${64 * LIMIT + 1}`, '', '{'].join('\r\n'))
    const answer = await new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())))
    socket.destroy()
    expect(answer).toMatch(/^HTTP\/1\.1 413 .*body_too_large.*more than 67108864 bytes/s)
  })

  it('is read to its end where it comes in chunks', async () => {
    const chunk = Buffer.from(`80000\r\n${' '.repeat(0x80000)}\r\n`)
    const body = Buffer.concat([...Array(16).fill(chunk), Buffer.from('0\r\n\r\n')])
    const answers = await answersTo(body, 'transfer-encoding: chunked')
    expect(answers).toMatch(/^HTTP\/1\.1 413 .*body_too_large.*HTTP\/1\.1 200 /s)
  })

  it('is read to its end where it unpacks to too much', async () => {
    const body = gzipSync(Buffer.concat([Buffer.alloc(8 * LIMIT), randomBytes(LIMIT * 0.9)]))
    expect(body.length).toBeLessThan(LIMIT)
    const answers = await answersTo(body, 'content-encoding: gzip', `content-length: ${body.length}`)
    expect(answers).toMatch(/^HTTP\/1\.1 413 .*body_too_large.*HTTP\/1\.1 200 /s)
  })
})

describe('a full run', () => {
  const post = (body: object, path = '/rollouts') => send(JSON.stringify(body), { prefer: 'wait=20' }, path)

  it('refuses a large body unread where the query names it, and answers a known group all the same', async () => {
    await world.call('PUT', '/runs/full', { buffer_max_groups: 1, batch_size: 16 })
    const known = { item_id: itemId, group_id: 'known', rollouts }
    expect((await post(known, '/rollouts?run=full')).status).toBe(200)
    expect((await post(known, '/rollouts?run=full')).status).toBe(200)
    expect((await post({ ...known, group_id: 'new' }, '/rollouts?run=full')).status).toBe(429)

    // Only the head is sent: who waits for the body would wait for ever.
    const socket = connect(port, '127.0.0.1')
    const head = ['POST /rollouts?run=full HTTP/1.1', 'host: localhost', 'content-type: application/json']
    socket.write([...head, 'content-length: 50000000', '', '{'].join('\r\n'))
    const answer = await new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())))
    socket.destroy()
    expect(answer).toMatch(/^HTTP\/1.1 429 /)
    expect(answer).toMatch(/retry-after: \d/i)
    expect(answer).toContain('buffer_full')
    expect(answer).toContain('leave run out of the query')
  })

  it('takes what does not wait for a trainer as its refusal says: without the run in the query, or by a setting', async () => {
    await world.call('PUT', '/runs/brimming', { buffer_max_groups: 1, batch_size: 16 })
    const large = { item_id: itemId, rollouts, extra: 'x'.repeat(70_000) }
    expect((await post({ ...large, group_id: 'first' }, '/rollouts?run=brimming')).status).toBe(200)
    const unbuffered = { ...large, group_id: 'second', buffer: false }
    expect((await post(unbuffered, '/rollouts?run=brimming')).status).toBe(429)
    expect((await post({ ...unbuffered, run: 'brimming' })).status).toBe(200)
    await world.call('PUT', '/runs/brimming', { buffer: false })
    expect((await post({ ...large, group_id: 'third' }, '/rollouts?run=brimming')).status).toBe(200)
  })
})

it('the run may stand in the query alone', async () => {
  const response = await send(JSON.stringify({ item_id: itemId, rollouts }), {}, '/rollouts?run=in-query')
  expect(((await response.json()) as { run: string }).run).toBe('in-query')
})

interface NumberedGroup {
  group_id: string
  rollouts: { completion?: string; tokens?: number[]; logprobs?: number[] }[]
}

it('many large posts at once are all answered, and each gives back its own numbers', async () => {
  const sent = Array.from({ length: 24 }, (_, k) => ({
    run: 'large',
    item_id: itemId,
    group_id: `g${k}`,
    rollouts: Array.from({ length: 4 }, (_, n) => ({
      completion: `<answer>${n}</answer>`,
      tokens: Array.from({ length: 4000 }, (_, at) => at * 192 + n * 24 + k),
      logprobs: Array.from({ length: 4000 }, (_, at) => Math.fround(-(at + 0.7) / (n * 24 + k + 1))),
    })),
  }))
  await world.call('PUT', '/runs/large', { batch_size: 4 * sent.length, drop_equal_scores: false })
  const answers = await Promise.all(sent.map((group) => send(JSON.stringify(group), { prefer: 'wait=20' })))
  expect(answers.map(({ status }) => status)).toEqual(sent.map(() => 200))
  const { body } = await world.call('POST', '/runs/large/batches', { step: 0 })
  const given = new Map<string, NumberedGroup>(body.groups.map((group: NumberedGroup) => [group.group_id, group]))
  for (const group of sent) {
    // as text, since expect takes seconds for a million numbers
    const differing = group.rollouts.filter((own, n) => {
      const { completion, tokens, logprobs } = given.get(group.group_id)?.rollouts[n] ?? {}
      return JSON.stringify({ completion, tokens, logprobs }) !== JSON.stringify(own)
    })
    expect([group.group_id, differing.map(({ completion }) => completion)]).toEqual([group.group_id, []])
  }
})

it('over BUFFER_MAX_BYTES new groups of any run are refused, and known ones answered', async () => {
  const small = await openWorld({ BUFFER_MAX_BYTES: 1, prefix: `${world.prefix}small` })
  try {
    const post = (group_id: string) =>
      small.call('POST', '/rollouts', { run: group_id, item_id: itemId, group_id, rollouts })
    for (const run of ['first', 'second']) await small.call('PUT', `/runs/${run}`, {})
    expect((await post('first')).status).toBe(202)
    const refused = await post('second')
    expect([refused.status, refused.body.code]).toEqual([429, 'buffer_full'])
    expect(refused.body.detail).toContain('BUFFER_MAX_BYTES')
    expect(refused.headers['retry-after']).toBeDefined()
    expect((await post('first')).status).toBe(202)
  } finally {
    await small.close()
  }
})
