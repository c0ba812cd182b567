import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { allowLateRequests, listen } from '../../../src/http/connections/listening.ts'
import { openWorld, type World } from '../../world.ts'

async function listeningWorld(): Promise<{ world: World; port: number }> {
  const world = await openWorld()
  await listen(world.app, { host: '127.0.0.1', port: 0 })
  const address = world.app.server.address()
  return { world, port: typeof address === 'object' ? (address?.port ?? 0) : 0 }
}

function ended(socket: Socket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let text = ''
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString()
  })
  socket.once('close', () => resolve(text))
  return promise
}

it('connections without a request do not delay the close', async () => {
  const { world, port } = await listeningWorld()
  let accepted = 0
  world.app.server.on('connection', () => {
    accepted++
  })
  const sockets = Array.from({ length: 64 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  const closed = Promise.all(sockets.map(ended))
  await expect.poll(() => accepted).toBe(64)
  await world.close()
  await closed
  const late = connect(port, '127.0.0.1')
  const [error] = (await once(late, 'error')) as [NodeJS.ErrnoException]
  expect(error.code).toBe('ECONNREFUSED')
})

it('requests in flight are answered before the close, whatever they wait for, and their connections end then', async () => {
  const { world, port } = await listeningWorld()
  await world.call('PUT', '/runs/closing', {})
  const body = JSON.stringify({ run: 'closing', item_id: await anItem(world), rollouts: [{ completion: 'x' }] })
  const head = ['POST /rollouts HTTP/1.1', 'Host: localhost', 'Prefer: wait=20', 'Content-Type: application/json']
  const asked = `${[...head, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`
  const answers = Array.from({ length: 32 }, () =>
    ended(
      connect(port, '127.0.0.1', function ask(this: Socket) {
        this.write(asked)
      }),
    ),
  )
  const { runs } = world.features.runs
  await expect.poll(async () => (await runs.get('closing'))?.counters.groups).toBe(1)
  const start = performance.now()
  await world.close()
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 20[02] /)
  expect(performance.now() - start).toBeLessThan(10_000) // they wait for 20 s, and kept connections last 75
})

it('requests sent before the close are answered, even on connections that the process has not accepted yet', async () => {
  const { world, port } = await listeningWorld()
  const asked = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const sockets = Array.from({ length: 64 }, () =>
    connect(port, '127.0.0.1', function ask(this: Socket) {
      this.write(asked)
    }),
  )
  const answers = Promise.all(sockets.map(ended))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  await world.close()
  for (const answer of await answers) expect(answer).toMatch(/^HTTP\/1\.1 200 /)
})

it('a request that comes while the process is stalled is answered', async () => {
  const { world, port } = await listeningWorld()
  const accepted = once(world.app.server, 'connection')
  const socket = connect(port, '127.0.0.1')
  const answer = ended(socket)
  await accepted
  const closed = world.close()
  await sleep(300) // it closes connections that have sent nothing
  await nextTurn() // timers come next, before what has arrived is read
  socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const end = performance.now() + 1500
  while (performance.now() < end);
  expect(await answer).toMatch(/^HTTP\/1\.1 200 /)
  await closed
})

it('a request that is rejected while the server closes ends its connection like any other', async () => {
  const { world, port } = await listeningWorld()
  const socket = connect(port, '127.0.0.1')
  const answer = ended(socket)
  await once(socket, 'connect')
  const closed = world.close()
  const head = ['POST /items HTTP/1.1', 'Host: localhost', 'Content-Type: application/json', 'Content-Length: 1']
  socket.write(`${head.join('\r\n')}\r\n\r\n{`)
  await closed
  expect(await answer).toMatch(/^HTTP\/1\.1 400 .*\r\nconnection: close\r\n/is)
})

it('a client that goes on sending a rejected body does not delay the close', async () => {
  const { world, port } = await listeningWorld()
  const head = ['POST /score HTTP/1.1', 'Host: localhost', 'Connection: close', 'Content-Type: text/plain']
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, function ask(this: Socket) {
    this.write(`${[...head, 'Content-Length: 1000000'].join('\r\n')}\r\n\r\n the rest never comes`)
  }).on('error', () => {})
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 415 /)
  const start = performance.now()
  await world.close()
  expect(performance.now() - start).toBeLessThan(10_000) // a body may take two minutes
  socket.destroy()
})

it('a process that is replaced answers a client that connected before and sends its request seconds later', async () => {
  const { world, port } = await listeningWorld()
  const accepted = once(world.app.server, 'connection')
  const socket = connect(port, '127.0.0.1')
  const answer = ended(socket)
  await accepted
  allowLateRequests() // from here on, for this file
  const closed = world.close()
  await sleep(3000)
  socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
  expect(await answer).toMatch(/^HTTP\/1\.1 200 /)
  await closed
})

async function anItem(world: World): Promise<string> {
  const { body } = await world.call('POST', '/items', { task: 'chain_sum', seed: 1 })
  return body.items[0].id
}
