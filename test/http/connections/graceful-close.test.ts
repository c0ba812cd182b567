import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { listen } from '../../../src/http/connections/listen.ts'
import { openWorld, type World } from '../../world.ts'

async function listeningWorld(): Promise<{ world: World; port: number }> {
  const world = await openWorld({ PYTHON_WORKERS: 1 })
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

it('connections on which nothing was asked do not hold up the close, whichever socket took them', async () => {
  const { world, port } = await listeningWorld()
  let taken = 0
  world.app.server.on('connection', () => {
    taken++
  })
  const sockets = Array.from({ length: 64 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  const closed = Promise.all(sockets.map(ended))
  await expect.poll(() => taken).toBe(64)
  await world.close()
  await closed
  const late = connect(port, '127.0.0.1')
  const [error] = (await once(late, 'error')) as [NodeJS.ErrnoException]
  expect(error.code).toBe('ECONNREFUSED')
})

it('requests in hand are answered before the close, whatever they wait for, and their connections end then', async () => {
  const { world, port } = await listeningWorld()
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
  const { runs } = world.service
  await expect.poll(async () => (await runs.get('closing'))?.counters.groups).toBe(1)
  const start = performance.now()
  await world.close()
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 20[02] /)
  expect(performance.now() - start).toBeLessThan(10_000) // they wait for 20 s, and kept connections last 75
})

it('what was sent when the close begins is answered, though nobody has read it or taken its connection yet', async () => {
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

it('a body that is refused while the server closes ends its connection like any other request', async () => {
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

it('who was refused and goes on sending does not hold up the close', async () => {
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

it('connections that shall spread end with their next answer; those opened later stay', async () => {
  const { world, port } = await listeningWorld()
  const ask = (socket: Socket) => {
    socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
    return once(socket, 'data').then(String)
  }
  const early = connect(port, '127.0.0.1')
  expect(await ask(early)).toMatch(/connection: keep-alive/i)
  world.app.rebalanceConnections()
  const late = connect(port, '127.0.0.1')
  expect(await ask(late)).toMatch(/connection: keep-alive/i)
  expect(early.readyState).toBe('open') // who asks nothing is not disturbed
  const answer = ended(early)
  void ask(early)
  expect(await answer).toMatch(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is)
  expect(await ask(late)).toMatch(/connection: keep-alive/i)
  late.destroy()
  await world.close()
})

it('who asks more than once before an answer is not sent away: all of it is answered', async () => {
  const { world, port } = await listeningWorld()
  const ask = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const slow = JSON.stringify({ run: 'slow', item_id: await anItem(world), rollouts: [{ completion: 'x' }] })
  const head = ['POST /rollouts HTTP/1.1', 'Host: localhost', 'Prefer: wait=1', 'Content-Type: application/json']
  const slowly = `${[...head, `Content-Length: ${slow.length}`].join('\r\n')}\r\n\r\n${slow}`
  const [together, meanwhile] = await Promise.all(
    [0, 1].map(async () => {
      const socket = connect(port, '127.0.0.1')
      let text = ''
      socket.on('data', (bytes: Buffer) => {
        text += bytes.toString()
      })
      socket.write(ask)
      const answers = () => text.match(/HTTP\/1\.1 20[02] /g)?.length
      await expect.poll(answers).toBe(1)
      return { socket, answers, text: () => text }
    }),
  )
  if (!together || !meanwhile) throw new Error('two connections')
  world.app.rebalanceConnections()
  together.socket.write(ask.repeat(20))
  meanwhile.socket.write(slowly)
  const { runs } = world.service
  await expect.poll(async () => (await runs.get('slow'))?.counters.groups).toBe(1)
  world.app.rebalanceConnections() // a second time, as a process joins
  meanwhile.socket.write(ask.repeat(2))
  await expect.poll(together.answers).toBe(21)
  await expect.poll(meanwhile.answers, { timeout: 5000 }).toBe(4)
  expect(meanwhile.text()).not.toMatch(/connection: close/i)
  for (const { socket } of [together, meanwhile]) socket.destroy()
  await world.close()
})

it('a connection that is sent away takes the body that nobody reads, so that its client meets the answer', async () => {
  const { world, port } = await listeningWorld()
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(socket, 'data')
  world.app.rebalanceConnections()
  const failed: unknown[] = []
  socket.on('error', (error) => failed.push(error))
  const closed = ended(socket)
  const answered = once(socket, 'data').then(String)
  socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n')
  for (let k = 0; k < 3; k++) {
    await sleep(50)
    socket.write(Buffer.alloc(1_000_000))
  }
  expect(await answered).toMatch(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is)
  socket.end()
  await closed
  expect(failed).toEqual([])
  await world.close()
})

it('a busy process takes many connections in a turn of its event loop, not one', async () => {
  const { world, port } = await listeningWorld()
  let [taken, turns] = [0, 0]
  world.app.server.on('connection', () => {
    taken++
  })
  const sockets = Array.from({ length: 256 }, () => connect(port, '127.0.0.1'))
  while (taken < sockets.length) {
    await new Promise((resolve) => setImmediate(resolve))
    if (taken > 0) turns++
  }
  for (const socket of sockets) socket.destroy()
  await world.close()
  expect(turns).toBeLessThan(sockets.length / 2)
})

async function anItem(world: World): Promise<string> {
  const { body } = await world.call('POST', '/items', { task: 'chain_sum', seed: 1 })
  return body.items[0].id
}
