import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DEFAULT_HTTP_TIMEOUTS } from '../../../src/http/connections/http-timeouts.ts'
import { openWorld, type World } from '../../world.ts'

let world: World
/** With the timeouts of a real server, but for unused connections: a busy machine may need more than 200 ms to send headers. */
let patientWorld: World
beforeAll(async () => {
  world = await openWorld({ timeouts: { ...DEFAULT_HTTP_TIMEOUTS, headersMs: 200, requestMs: 400, keepAliveMs: 100 } })
  patientWorld = await openWorld({ timeouts: { ...DEFAULT_HTTP_TIMEOUTS, keepAliveMs: 100 } })
  for (const { app } of [world, patientWorld]) await app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => Promise.all([world.close(), patientWorld.close()]))

function connected({ app }: World): Socket {
  const { port } = app.server.address() as AddressInfo // it listens on a port
  return connect(port, '127.0.0.1')
}

/** Writes this and waits until the server has hung up. */
async function answerTo(text: string, at = patientWorld): Promise<string> {
  return answerOn(connected(at), [text])
}

function answerOn(socket: Socket, parts: string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let answer = ''
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString()
  })
  socket.on('error', () => {}).once('close', () => resolve(answer))
  for (const part of parts) socket.write(part)
  return promise
}
const body = (answer: string) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))

it.each([
  ['sends its headers too slowly', 'POST /score HTTP/1.1\r\nHost: localhost\r\nX-Slow: '],
  [
    'sends its body too slowly',
    'POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a',
  ],
])('a client that %s is cut', async (_name, text) => {
  const answer = await answerTo(text, world)
  expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
  expect(body(answer)).toMatchObject({ code: 'request_timeout', status: 408 })
})

it('a client that goes on sending a body that was refused is cut', async () => {
  const cutting = await openWorld({ timeouts: { ...DEFAULT_HTTP_TIMEOUTS, headersMs: 2000, requestMs: 2000 } })
  await cutting.app.listen({ port: 0, host: '127.0.0.1' })
  const socket = connected(cutting)
  const sending = setInterval(() => socket.write(' '), 20)
  const head = [
    'POST /items HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    'Content-Length: 1000000000000',
  ]
  const answer = await answerOn(socket, [`${head.join('\r\n')}\r\n\r\n`])
  clearInterval(sending)
  await cutting.close()
  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
})

it.each(['HTTP/1.1', 'HTTP/1.0'])(
  'a client of %s that closes after it reads meets the refusal of its body',
  async (version) => {
    const bytes = 20_000_000
    const head = ['Host: localhost', 'Connection: close', 'Content-Type: application/json', `Content-Length: ${bytes}`]
    const socket = connected(patientWorld)
    const failed: Error[] = []
    socket.on('error', (error) => failed.push(error))
    const answer = answerOn(socket, [`POST /items ${version}\r\n${head.join('\r\n')}\r\n\r\n`])
    for (let sent = 0; sent < bytes; sent += 1_000_000) socket.write(Buffer.alloc(1_000_000, ' '))
    expect(body(await answer)).toMatchObject({ code: 'body_too_large' })
    expect(failed).toEqual([])
    expect(socket.bytesWritten).toBeGreaterThan(bytes)
  },
)

it('a connection that is not used is closed', async () => {
  const answer = await answerTo('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
  expect(body(answer)).toEqual({ status: 'alive' })
})

it('headers and URLs have a bound', async () => {
  const long = await answerTo(`GET /livez?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  expect(long).toMatch(/^HTTP\/1\.1 431 /)
  expect(body(long)).toMatchObject({ code: 'headers_too_large', status: 431 })
})

it.each(['nonsense\r\n\r\n', 'GET /livez HTTP/1.1\r\nHost localhost\r\n\r\n', '\u0016\u0003\u0001\r\n'])(
  '%j is no HTTP, which is said',
  async (text) => {
    const answer = await answerTo(text)
    expect(body(answer)).toMatchObject({ code: 'invalid_request', status: 400 })
    expect(answer).toMatch(/\r\nX-Request-Id: \S+\r\n/)
  },
)

it('a request without Host is refused like any other, but for HTTP/1.0, which has none', async () => {
  const answer = await answerTo('GET /livez HTTP/1.1\r\nX-Request-Id: mine\r\nConnection: close\r\n\r\n')
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nx-request-id: mine\r\n/)
  expect(body(answer)).toMatchObject({ code: 'invalid_request', detail: expect.stringContaining('Host') })
  expect(body(await answerTo('GET /livez HTTP/1.0\r\n\r\n'))).toEqual({ status: 'alive' })
})

it('what a client expects beyond 100-continue is passed over', async () => {
  const head = 'GET /livez HTTP/1.1\r\nHost: localhost\r\nExpect: wonders\r\nConnection: close\r\n\r\n'
  expect(body(await answerTo(head))).toEqual({ status: 'alive' })
})

it('a request smuggled behind two lengths is refused', async () => {
  const answer = await answerTo(
    'POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  )
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
})
