import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const get = (url: string, encoding: string) => world.app.inject({ url, headers: { 'accept-encoding': encoding } })

it.each([
  ['gzip', gunzipSync],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
  ['deflate', inflateSync],
] as const)('a response comes in %s to a client that accepts it', async (encoding, decompress) => {
  const plain = await world.app.inject('/tasks')
  const packed = await get('/tasks', encoding)
  expect([packed.headers['content-encoding'], packed.headers.vary]).toEqual([encoding, 'accept-encoding'])
  expect(packed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2)
  expect(decompress(packed.rawPayload).toString()).toBe(plain.body)
})

it('other responses are not compressed: small ones, those to POST, and those to clients that accept none', async () => {
  expect((await get('/livez', 'gzip')).headers['content-encoding']).toBeUndefined()
  expect((await get('/tasks', 'identity')).headers['content-encoding']).toBeUndefined()
  const headers = { 'accept-encoding': 'gzip', 'content-type': 'application/json' }
  const payload = { task: 'gcd', seeds: Array.from({ length: 20 }, (_, k) => k) }
  const items = await world.app.inject({ method: 'POST', url: '/items', headers, payload })
  expect([items.statusCode, items.headers['content-encoding']]).toEqual([200, undefined])
})

it('the dashboard’s files are compressed, and revalidated by their ETag', async () => {
  const first = await get('/dashboard/style/forms.css', 'gzip')
  expect([first.statusCode, first.headers['content-encoding']]).toEqual([200, 'gzip'])
  const headers = { 'accept-encoding': 'gzip', 'if-none-match': String(first.headers.etag) }
  const again = await world.app.inject({ url: '/dashboard/style/forms.css', headers })
  expect([again.statusCode, again.body]).toEqual([304, ''])
})

it('an event is sent at once, whatever the client accepts', async () => {
  const url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  const closed = new AbortController()
  const response = await fetch(`${url}/events`, { headers: { 'accept-encoding': 'gzip' }, signal: closed.signal })
  expect(response.headers.get('content-encoding')).toBeNull()
  const { value } = (await response.body?.getReader().read()) ?? {}
  expect(Buffer.from(value ?? []).toString()).toMatch(/^event: overview\n/)
  closed.abort()
})
