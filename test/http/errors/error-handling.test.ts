import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, type World } from '../../world.ts'

const lines: string[] = []
let world: World
beforeAll(async () => {
  world = await openWorld({ onLog: (line) => lines.push(line) })
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
