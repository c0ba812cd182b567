import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openKeyRing } from '../../src/access/key-ring.ts'
import { openWorld, type World } from '../world.ts'

let closed: World
let shared: World
const FRIEND = 'https://friend.example'

beforeAll(async () => {
  const keys = openKeyRing({ API_KEYS: 'reader:look', API_KEYS_FILE: undefined })
  ;[closed, shared] = await Promise.all([openWorld(), openWorld({ keys, corsOrigins: [FRIEND] })])
})
afterAll(() => Promise.all([closed.close(), shared.close()]))

const preflight = (world: World, origin: string) =>
  world.app.inject({
    method: 'OPTIONS',
    url: '/runs/a',
    headers: { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization' },
  })

describe('pages of other sites', () => {
  it('may read nothing unless CORS_ORIGINS names their site', async () => {
    const answer = await closed.app.inject({ method: 'GET', url: '/tasks', headers: { origin: FRIEND } })
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
    expect((await preflight(closed, FRIEND)).headers['access-control-allow-origin']).toBeUndefined()
    const other = await shared.app.inject({
      url: '/tasks',
      headers: { origin: 'https://evil.example', 'x-api-key': 'look' },
    })
    expect(other.headers['access-control-allow-origin']).not.toBe('https://evil.example')
  })

  it('of a named site ask without a key and read with one, also why they were refused', async () => {
    const asked = await preflight(shared, FRIEND)
    expect(asked.statusCode).toBe(204)
    expect(asked.headers['access-control-allow-origin']).toBe(FRIEND)
    expect(asked.headers['access-control-allow-methods']).toContain('PUT')
    expect(asked.headers['access-control-allow-headers']).toBe('authorization')
    for (const headers of [{ origin: FRIEND, 'x-api-key': 'look' }, { origin: FRIEND }]) {
      const answer = await shared.app.inject({ url: '/tasks', headers })
      expect(answer.statusCode).toBe('x-api-key' in headers ? 200 : 401)
      expect(answer.headers['access-control-allow-origin']).toBe(FRIEND)
      expect(answer.headers['access-control-expose-headers']).toContain('Retry-After')
    }
  })
})

it('every answer says what a browser may do with it', async () => {
  for (const url of ['/docs/', '/tasks', '/nowhere']) {
    const { headers } = await closed.app.inject({ url })
    const scripts = url === '/docs/' ? "default-src 'none';script-src 'self'" : "default-src 'none'"
    expect(headers['content-security-policy']).toContain(scripts)
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
    expect(headers['strict-transport-security']).toBeUndefined()
  }
})

it('Swagger UI has no script of its own that the policy would stop', async () => {
  const { body } = await closed.app.inject({ url: '/docs/' })
  const scripts = [...body.matchAll(/<script([^>]*)>([^<]*)/g)]
  expect(scripts.length).toBeGreaterThan(0)
  for (const [, attributes, text] of scripts) expect([attributes?.includes('src='), text?.trim()]).toEqual([true, ''])
})
