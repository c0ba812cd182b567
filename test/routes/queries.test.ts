import { afterAll, beforeAll, expect, it } from 'vitest'
import { inlineComponents } from '../../scripts/reference/page-parts.ts'
import { openWorld, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

/** Pages and their files, whose addresses browsers and tools lengthen as they like. */
const PAGES = /^(\/|\*|\/openapi(\/trainers)?\.json|\/(docs|dashboard)(\/.*)?)$/

/** Asked by tools that add what they like, and must get their answer. */
const PROBES = ['/livez', '/readyz', '/metrics']

const STRANGER = 'no_such_field'

it('every route but probes refuses a query with a field that it does not have', async () => {
  const routes = [...world.app.accessRules.keys()].map((row) => row.split(' ') as [string, string])
  const calls = routes.filter(([method, url]) => method !== 'OPTIONS' && !PAGES.test(url) && !PROBES.includes(url))
  expect(calls.length).toBeGreaterThan(60)
  const examples = await readExamples()
  for (const [method, url] of calls) {
    const pattern = url.replace(/:(\w+)/g, '{$1}')
    const key = `${method === 'HEAD' ? 'get' : method.toLowerCase()} ${pattern}`
    // A URL without a run has the example of its twin.
    const twin = url === '/samples' ? 'post /runs/{run}/samples' : key.replace(/ (\/[\w-]+)\//, ' $1/{run}/')
    const example = examples.get(key) ?? examples.get(twin)
    const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(example?.path[name] ?? `no ${name}`)),
    )
    const answer = await world.app.inject({
      method: method as 'GET',
      url: path,
      query: { ...stringify(example?.query ?? {}), [STRANGER]: '1' },
      ...(example?.body !== undefined && { payload: example.body }),
    })
    expect([method, url, answer.statusCode]).toEqual([method, url, 400])
    if (method !== 'HEAD') {
      expect([method, url, answer.json().code, answer.json().errors]).toEqual([
        method,
        url,
        'invalid_request',
        [{ path: STRANGER, message: 'unknown field' }],
      ])
    }
  }
})

const stringify = (query: Example['query']): Record<string, string> =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]))

interface Example {
  path: Record<string, string | number>
  query: Record<string, string | number>
  body: object | undefined
}

/** Those of the API documents, by method and path. */
async function readExamples(): Promise<Map<string, Example>> {
  const documents = await Promise.all(['/openapi.json', '/openapi/trainers.json'].map((url) => world.call('GET', url)))
  return new Map(
    documents.flatMap(({ body }) =>
      Object.entries<Record<string, Documented>>(inlineComponents(body).paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { parameters, requestBody }]) => {
          const valuesOf = (place: string) =>
            parameters.flatMap((one) =>
              one.in === place && one.example !== undefined ? [[one.name, one.example]] : [],
            )
          const bodies = Object.values(requestBody?.content['application/json'].examples ?? {})
          const example: Example = {
            path: Object.fromEntries(valuesOf('path')),
            query: Object.fromEntries(valuesOf('query')),
            body: bodies[0]?.value,
          }
          return [`${method} ${path}`, example] as const
        }),
      ),
    ),
  )
}

interface Documented {
  parameters: { in: string; name: string; example?: string | number }[]
  requestBody?: { content: { 'application/json': { examples?: Record<string, { value: object }> } } }
}

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
