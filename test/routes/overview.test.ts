import { once } from 'node:events'
import { connect } from 'node:net'
import { Overview } from '@reasoning-gym-server/contract/overview'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, until, type World } from '../world.ts'

let world: World
let url: string

beforeAll(async () => {
  world = await openWorld({ worker: true, PYTHON_WORKERS: 1 })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => world.close())

/** Reads events as they come; `take` gives the next one of that name. */
async function listen(path: string) {
  const answer = await fetch(url + path)
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const next = async (): Promise<{ event: string; data: unknown } | undefined> => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end >= 0) {
        const [, event = '', data = ''] = /event: (.*)\ndata: (.*)/.exec(text.slice(0, end)) ?? []
        text = text.slice(end + 2)
        return { event, data: JSON.parse(data) }
      }
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
      if (done) return undefined
      text += value
    }
  }
  return {
    async take(event: string) {
      for (let one = await next(); one; one = await next()) if (one.event === event) return one.data
      return undefined
    },
    stop: () => reader?.cancel(),
  }
}

it('shows health, totals, queues and processes at a glance', async () => {
  // Processes report themselves every two seconds, and Python workers are started when they are needed.
  const { status, body } = await until(
    () => world.call('GET', '/overview'),
    (answer) => answer.body.processes?.[0]?.workers.score === 1,
  )
  expect(status).toBe(200)
  expect(Overview.parse(body)).toEqual(body)
  expect(body.health).toMatchObject({ status: 'ready', redis: { ok: true } })
  expect(body.processes).toEqual([
    expect.objectContaining({ role: 'api', engine_up: true, workers: { items: expect.any(Number), score: 1 } }),
  ])
  expect(body.queues).toContainEqual(expect.objectContaining({ queue: 'score-group', waiting: 0 }))
})

it('totals grow with what is done', async () => {
  const before = (await world.call('GET', '/overview')).body.totals
  await world.call('POST', '/items', { task: 'leg_counting', seed: 42 })
  const after = await until(
    async () => (await world.call('GET', '/overview')).body.totals,
    (totals) => totals.items_handed_out > before.items_handed_out,
  )
  expect(after.items_handed_out).toBe(before.items_handed_out + 1)
})

it('tells those who listen of the server, and of a run when it changes', async () => {
  await world.call('PUT', '/runs/heard', { seed: 1 })
  const { take, stop } = await listen('/events?run=heard')
  expect(await take('overview')).toMatchObject({ health: { status: 'ready' } })
  expect(await take('run')).toMatchObject({ run: 'heard', settings: { batch_size: 128 } })
  await world.call('PUT', '/runs/heard', { batch_size: 64 })
  expect(await take('run')).toMatchObject({ settings: { batch_size: 64 } })
  await stop()
})

it('a run that is not there is a problem, not a stream', async () => {
  expect((await world.call('GET', '/events?run=nobody')).body.code).toBe('unknown_run')
})

it('clients that leave at once make room for others', async () => {
  const { hostname, port } = new URL(url)
  for (let k = 0; k < 80; k++) {
    const socket = connect(Number(port), hostname)
    socket.write('GET /events?run=heard HTTP/1.1\r\nHost: localhost\r\n\r\n', () => socket.destroy())
    await once(socket, 'close')
  }
  const { take, stop } = await listen('/events?run=heard')
  expect(await take('run')).toMatchObject({ run: 'heard' })
  await stop()
})

it('streams end when the server closes', async () => {
  const other = await openWorld()
  const otherUrl = await other.app.listen({ host: '127.0.0.1', port: 0 })
  const answer = await fetch(`${otherUrl}/events`)
  const text = answer.text()
  await other.close()
  expect(await text).toContain('event: overview')
})

it('keeps the totals of the last hour', async () => {
  const history = await until(
    async () => (await world.call('GET', '/overview')).body.history,
    (points) => points.length > 0,
  )
  expect(history[0]).toMatchObject({ at: expect.any(String), queued: expect.any(Number) })
})
