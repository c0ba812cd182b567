import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, type World } from '../../world.ts'

const ORIGIN = 'https://pages.example'

let world: World
beforeAll(async () => {
  world = await openWorld({ corsOrigins: [ORIGIN] })
})
afterAll(() => world.close())

const from = { origin: ORIGIN, 'x-request-id': 'mine-1' }

it.each(['/tasks/%ff', '/items/%ff?run=x', '/runs/%E0%A4%A', '/dashboard/%ff', '/%', '/nope/%zz'])(
  'GET %s is refused with a problem document that says why, and the headers of any other answer',
  async (url) => {
    const answer = await world.call('GET', url, undefined, from)
    const [path] = url.split('?')
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', status: 400 } })
    expect(answer.body.detail).toBe(`The path ${path} is not valid percent-encoded UTF-8. Encode each part of it.`)
    const other = await world.call('GET', '/nope', undefined, from)
    const { 'content-length': _, date: __, ...headers } = other.headers
    expect(answer.headers).toMatchObject(headers)
    expect(answer.headers['x-request-id']).toBe('mine-1')
  },
)

it('other methods and bodies are refused alike, on a real connection too', async () => {
  expect((await world.call('PUT', '/runs/%ff', { seed: 1 })).body.code).toBe('invalid_request')
  const url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  const answer = await fetch(`${url}/runs/%ff`, {
    method: 'PUT',
    body: '{"seed":',
    headers: { 'x-request-id': 'mine-2' },
  })
  expect([answer.status, answer.headers.get('x-request-id')]).toEqual([400, 'mine-2'])
  expect(await answer.json()).toMatchObject({ code: 'invalid_request' })
})

it('a request must have one Host header', async () => {
  const { port } = world.app.server.address() as AddressInfo // the test above listens
  for (const hosts of [[], ['a.example', 'b.example']]) {
    const socket = connect(port, '127.0.0.1')
    const lines = ['GET /livez HTTP/1.1', ...hosts.map((host) => `hOST: ${host}`), 'Connection: close']
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain(`The request has ${hosts.length} Host headers. Send exactly one.`)
  }
})

it('they are counted with what has no route', async () => {
  const { body } = await world.app.inject('/metrics')
  expect(body).toMatch(/route="none"[^\n]*status="400"/)
})
