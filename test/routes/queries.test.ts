import { afterAll, beforeAll, expect, it } from 'vitest'
import { OPERATION_EXAMPLES } from '../../routes/openapi-examples.ts'
import { openWorld, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

/** Pages and their files, whose addresses browsers and tools lengthen as they like. */
const PAGES = /^(\/|\*|\/openapi\.json|\/(docs|dashboard)(\/.*)?)$/

/** Asked by tools that add what they like, and must get their answer. */
const PROBES = ['/livez', '/readyz', '/metrics']

const STRANGER = 'no_such_field'

it('every route but probes refuses a query with a field that it does not have', async () => {
  const routes = [...world.app.accessRules.keys()].map((row) => row.split(' ') as [string, string])
  const calls = routes.filter(([method, url]) => method !== 'OPTIONS' && !PAGES.test(url) && !PROBES.includes(url))
  expect(calls.length).toBeGreaterThan(60)
  for (const [method, url] of calls) {
    const pattern = url.replace(/:(\w+)/g, '{$1}')
    const example = OPERATION_EXAMPLES[`${method === 'HEAD' ? 'GET' : method} ${pattern}`] ?? {}
    const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(example.path?.[name] ?? `no ${name}`),
    )
    const [body] = Object.values(example.bodies ?? {})
    const answer = await world.app.inject({
      method: method as 'GET',
      url: path,
      query: { ...example.query, [STRANGER]: '1' },
      ...(body !== undefined && { payload: body as object }),
    })
    expect([method, url, answer.statusCode]).toEqual([method, url, 400])
    if (method !== 'HEAD') {
      expect([method, url, answer.json().code, answer.json().errors]).toEqual([
        ...[method, url, 'invalid_request'],
        [{ path: STRANGER, message: 'unknown field' }],
      ])
    }
  }
})

it.each(PROBES)('%s answers whatever a prober adds', async (url) => {
  for (const more of ['?x=1', '?_=1767225600&_=2', '?name[]=up', '?']) {
    for (const method of ['GET', 'HEAD'] as const) {
      expect((await world.app.inject({ method, url: `${url}${more}` })).statusCode).toBe(200)
    }
  }
})

it('a run in the query of POST /items is refused, not taken for the default run', async () => {
  const { status, body } = await world.call('POST', '/items?run=other', { count: 1 })
  expect([status, body.errors]).toEqual([400, [{ path: 'run', message: 'unknown field' }]])
})
