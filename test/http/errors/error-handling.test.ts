import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, type World } from '../../world.ts'

const lines: string[] = []
let world: World
beforeAll(async () => {
  world = await openWorld({ onLog: (line) => lines.push(line) })
  await world.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => world.close())

it('a failure that nobody foresaw is 500 internal: the client gets the code, the log the reason', async () => {
  world.features.runs.runs.require = async () => {
    throw new TypeError('the reason, with a path: /srv/gym')
  }
  const answer = await world.call('GET', '/runs/broken', undefined, { 'x-request-id': 'mine-3' })
  expect(answer).toMatchObject({ status: 500, body: { code: 'internal', status: 500 } })
  expect(answer.headers).toMatchObject({
    'content-type': expect.stringContaining('application/problem+json'),
    'x-request-id': 'mine-3',
  })
  expect(JSON.stringify(answer.body)).not.toContain('/srv/gym')
  const told = lines.map((line) => JSON.parse(line)).filter(({ request_id }) => request_id === 'mine-3')
  expect(told).toMatchObject([{ level: 50, err: { type: 'TypeError', message: 'the reason, with a path: /srv/gym' } }])
})

it.each(['', 'Content-Length: 0\r\n'])(
  'a client that leaves before its reply begins is no failure: %j',
  async (length) => {
    const { port } = world.app.server.address() as AddressInfo // it listens on a port
    const accepted = once(world.app.server, 'connection') as Promise<[Socket]>
    const client = connect(port, '127.0.0.1')
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    world.features.runs.runMetrics.openRows = async () => {
      const [socket] = await accepted
      const left = once(socket, 'close')
      setImmediate(() => client.destroy())
      return (async function* () {
        yield await left.finally(end)
      })()
    }
    client.write(`GET /runs/any/metrics HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: left\r\n${length}\r\n`)
    await ended
    await world.call('GET', '/tasks') // by then, the failure would have been logged
    expect(lines.filter((line) => line.includes('"left"'))).toEqual([])
  },
)
