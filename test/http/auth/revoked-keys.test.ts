/** What a key has open when it is taken out of the key file, or changed in it. */
import { once } from 'node:events'
import { request } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { KeyRing, parseKeys } from '../../../src/http/auth/key-ring.ts'
import { openWorld, until, type World } from '../../world.ts'

const keyRing = new KeyRing([])
const setKeys = (text: string) => keyRing.replace(parseKeys(text, 'test'))

let world: World
let port: number
beforeAll(async () => {
  setKeys('trainer:leaving,trainer:staying')
  world = await openWorld({ keyRing })
  port = Number(new URL(await world.app.listen({ port: 0, host: '127.0.0.1' })).port)
  await world.call('PUT', '/runs/mine', { tasks: ['leg_counting'] }, { 'x-api-key': 'staying' })
})
afterAll(() => world.close())

beforeEach(() => setKeys('trainer:leaving,trainer:staying'))

/** A response that has begun, and whether its connection broke before the end. */
async function openStream(path: string, key: string) {
  const asked = request({ port, host: '127.0.0.1', path, headers: { 'x-api-key': key } }).end()
  const [response] = await once(asked, 'response')
  const broken = new Promise<boolean>((resolve) => {
    response.on('error', () => {}) // it closes
    response.on('close', () => resolve(!response.complete))
  })
  response.resume()
  return { status: response.statusCode, broken, close: () => asked.destroy() }
}

it.each(['/events?run=mine', '/dataset.jsonl?tasks=leg_counting&count=1000000'])(
  'a stream breaks off: %s',
  async (path) => {
    const [leaving, staying] = await Promise.all([openStream(path, 'leaving'), openStream(path, 'staying')])
    expect([leaving.status, staying.status]).toEqual([200, 200])
    setKeys('trainer:staying')
    expect(await leaving.broken).toBe(true)
    expect(await Promise.race([staying.broken, Promise.resolve('open')])).toBe('open')
    staying.close()
  },
)

it('a call in flight gets 401 in place of its answer', async () => {
  const { body } = await world.call('POST', '/items', { task: 'gcd', seed: 1 }, { 'x-api-key': 'staying' })
  const group = { run: 'mine', item_id: body.items[0].id, group_id: 'waiting', rollouts: [{ completion: 'x' }] }
  const answer = world.call('POST', '/rollouts', group, { 'x-api-key': 'leaving', prefer: 'wait=60' })
  const isThere = () => world.call('GET', '/rollouts/waiting?run=mine', undefined, { 'x-api-key': 'staying' })
  await until(isThere, ({ status }) => status === 202)
  setKeys('trainer:staying')
  world.startWorker() // scores the group, which ends the call
  expect((await answer).body).toMatchObject({
    code: 'unauthorized',
    detail: expect.stringContaining('during the call'),
  })
})
