import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadKeyRing } from '../../src/http/auth/key-ring.ts'
import { openWorld, type World } from '../world.ts'

let closed: World
let shared: World
const FRIEND = 'https://friend.example'

beforeAll(async () => {
  const keyRing = loadKeyRing({ API_KEYS: 'reader:look', API_KEYS_FILE: undefined })
  ;[closed, shared] = await Promise.all([openWorld(), openWorld({ keyRing, corsOrigins: [FRIEND] })])
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

/** As it is written: fetch and inject would take out the dots themselves. */
async function plainGet(
  path: string,
): Promise<{ status: number | undefined; allow: string | undefined; code: string }> {
  if (!closed.app.server.listening) await closed.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = closed.app.server.address() as AddressInfo // it listens on a port
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, async (answer) => {
      const { code } = JSON.parse(await text(answer))
      resolve({ status: answer.statusCode, allow: answer.headers.allow, code })
    }).once('error', reject)
  })
}

it.each([
  '/dashboard/nope.js',
  '/dashboard/',
  '/docs/static/nope.js',
  '/docs/static/..%2f..%2fpackage.json',
  '/dashboard/../../package.json',
  '/dashboard/%2e%2e/%2e%2e/package.json',
  '/docs/static/%2e%2e/%2e%2e/package.json',
])('%s is no file of the pages: there is nothing', async (path) => {
  expect(await plainGet(path)).toEqual({ status: 404, allow: undefined, code: 'not_found' })
})

it('a page’s file takes no POST', async () => {
  const { statusCode, headers } = await closed.app.inject({ method: 'POST', url: '/dashboard/index.html' })
  expect([statusCode, headers.allow]).toEqual([405, 'HEAD, GET'])
})
