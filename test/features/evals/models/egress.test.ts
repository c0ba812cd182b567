import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { ModelClient } from '../../../../src/features/evals/models/client.ts'
import {
  assertModelUrlAllowed,
  buildEgressPolicy,
  type EgressPolicy,
  getDenialReason,
} from '../../../../src/features/evals/models/egress-policy.ts'
import { createGuardedFetch } from '../../../../src/features/evals/models/guarded-fetch.ts'
import { BlockedRequestError, ModelUnavailableError } from '../../../../src/features/evals/models/model-errors.ts'

const nowhere: EgressPolicy = { allow_loopback: false, allowed_hosts: [] }
const here: EgressPolicy = { allow_loopback: true, allowed_hosts: [] }
const allowed = (address: string, reach: EgressPolicy, host = address) =>
  getDenialReason(address, host, reach) === undefined

const open: Server[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.close()
})

async function serve(answer: (attempt: number) => { status: number; headers?: Record<string, string>; body: string }) {
  const times: number[] = []
  const server = createServer((request, response) => {
    request.resume()
    const { status, headers = {}, body } = answer(times.push(performance.now()) - 1)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  })
  open.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, times }
}

const IPV4_SPELLINGS = [
  '0177.0.0.1',
  '0x7f000001',
  '127.1',
  '127.0.1',
  '017700000001',
  '１２７.0.0.1',
  '127。0。0。1',
  '127.0.0.1.',
]
  .concat(['[::127.0.0.1]', '[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '0', '0x0'])
  .map((host) => `http://${host}/v1`)

const asking = { temperature: 0, timeout_s: 5, retries: 3 }
const messages = [{ role: 'user' as const, content: '?' }]
const good = JSON.stringify({ choices: [{ message: { content: 'yes' }, finish_reason: 'stop' }] })

const unhurried = { signal: new AbortController().signal, hold: { reserve: async () => {} } }

it('public addresses may be called, loopback only from a server bound to it, private ones only by name', () => {
  expect(allowed('93.184.216.34', nowhere)).toBe(true)
  expect(allowed('2606:4700::1111', nowhere)).toBe(true)
  for (const address of ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1']) {
    expect([address, allowed(address, nowhere), allowed(address, here)]).toEqual([address, false, true])
  }
  for (const address of ['10.1.2.3', '192.168.0.9', '172.16.0.1', 'fc00::1', '100.64.0.1', '::ffff:10.0.0.1']) {
    expect([address, allowed(address, here)]).toEqual([address, false])
  }
  expect(allowed('10.1.2.3', { allow_loopback: false, allowed_hosts: ['10.0.0.0/8'] })).toBe(true)
  expect(allowed('11.1.2.3', { allow_loopback: false, allowed_hosts: ['10.0.0.0/8'] })).toBe(true)
  expect(allowed('192.168.0.9', { allow_loopback: false, allowed_hosts: ['10.0.0.0/8'] })).toBe(false)
  expect(allowed('192.168.0.9', { allow_loopback: false, allowed_hosts: ['VLLM.internal'] }, 'vllm.internal')).toBe(
    true,
  )
  expect(allowed('192.168.0.9', { allow_loopback: false, allowed_hosts: ['vllm.internal'] }, 'other.internal')).toBe(
    false,
  )
  expect(allowed('127.0.0.1', { allow_loopback: false, allowed_hosts: ['127.0.0.1'] })).toBe(true)
})

it('link-local, metadata and other special addresses are never called, whatever names them', () => {
  const all: EgressPolicy = { allow_loopback: true, allowed_hosts: ['0.0.0.0/0', '::/0', 'named'] }
  const never = ['169.254.169.254', '169.254.1.1', 'fe80::1', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16']
  for (const address of [...never, '0.0.0.0', '::', '224.0.0.1', '255.255.255.255', '64:ff9b::7f00:1', '2002:7f00:1::'])
    expect([address, allowed(address, all, 'named')]).toEqual([address, false])
})

it.each([
  ['IPv4-compatible', '::7f00:1', '::a9fe:a9fe', '::127.0.0.1', '::10.0.0.1', '::8.8.8.8'],
  ['translated', '::ffff:0:7f00:1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::7f00:1', '64:ff9b:1:ffff::1'],
  ['tunnels', '2002:a9fe:a9fe::', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '192.88.99.1'],
  ['site-local, link-local', 'fec0::1', 'feff::1', 'fe80::1', 'febf::1', 'fe80::1%eth0'],
  ['discarded, for segments, for documents', '100::1', '100:0:0:1::1', '5f00::1', '2001:db8::1', '3fff::1'],
  ['multicast, broadcast', 'ff02::1', '224.0.0.251', '239.1.2.3', '255.255.255.255', '::ffff:224.0.0.1'],
  ['for protocols, tests and later', '192.0.0.8', '198.18.0.1', '198.51.100.1', '240.0.0.1', '0.1.2.3', '4000::1'],
  ['metadata', '::ffff:169.254.169.254', '::ffff:168.63.129.16', 'fd00:ec2::23', 'fd00:ec2:0::254'],
])('%s addresses are never called', (_kind, ...addresses) => {
  const all: EgressPolicy = { allow_loopback: true, allowed_hosts: ['0.0.0.0/0', '::/0', 'named'] }
  for (const address of addresses) expect([address, allowed(address, all, 'named')]).toEqual([address, false])
})

it('loopback is called only if all clients are on this machine: without keys and without a proxy', () => {
  const allows = (change: Partial<Parameters<typeof buildEgressPolicy>[0]>) => {
    const none = { MODEL_HOSTS: [], TRUST_PROXY: [], API_KEYS: undefined, API_KEYS_FILE: undefined }
    return buildEgressPolicy({ HOST: '127.0.0.1', ...none, ...change }).allow_loopback
  }
  expect([allows({}), allows({ HOST: '::1' })]).toEqual([true, true])
  expect(allows({ HOST: '0.0.0.0' })).toBe(false)
  expect(allows({ API_KEYS: 'admin:key' })).toBe(false)
  expect(allows({ API_KEYS_FILE: 'keys' })).toBe(false)
  expect(allows({ TRUST_PROXY: ['127.0.0.1'] })).toBe(false)
})

it('spellings of an address are seen through, and names looked up', async () => {
  for (const url of [
    'http://2130706433/v1',
    'http://0x7f.1/v1',
    'http://[::ffff:7f00:1]/v1',
    'http://localhost/v1',
    ...IPV4_SPELLINGS,
  ])
    await expect(assertModelUrlAllowed(url, nowhere)).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(assertModelUrlAllowed('http://localhost:9/v1', here)).resolves.toBeUndefined()
  await expect(assertModelUrlAllowed('http://no-such-name.invalid/v1', here)).rejects.toMatchObject({
    code: 'invalid_request',
  })
})

it('is judged again at the moment of connecting: by address and by name', async () => {
  const { url, times } = await serve(() => ({ status: 200, body: good }))
  const guarded = createGuardedFetch(nowhere)
  for (const address of [url, url.replace('127.0.0.1', 'localhost')]) {
    const error = await guarded.fetch(address).catch((cause: Error) => cause)
    expect((error as Error).cause).toBeInstanceOf(BlockedRequestError)
  }
  expect(times).toHaveLength(0)
  await guarded.close()
})

it('redirects are refused and not tried again', async () => {
  const { url, times } = await serve(() => ({
    status: 302,
    headers: { location: 'http://169.254.169.254/' },
    body: '',
  }))
  const guarded = createGuardedFetch(here)
  const asked = new ModelClient({ name: 'm', base_url: url }, guarded).complete(messages, asking, unhurried)
  await expect(asked).rejects.toThrow(/redirects/)
  await expect(asked).rejects.toBeInstanceOf(ModelUnavailableError)
  expect(times).toHaveLength(1)
  await guarded.close()
})

it('Retry-After is honoured to the second', async () => {
  const { url, times } = await serve((attempt) =>
    attempt === 0 ? { status: 429, headers: { 'retry-after': '1' }, body: '{}' } : { status: 200, body: good },
  )
  const guarded = createGuardedFetch(here)
  const reply = await new ModelClient({ name: 'm', base_url: url }, guarded).complete(messages, asking, unhurried)
  expect(reply).toEqual({ content: 'yes', finish_reason: 'stop' })
  const [first = 0, second = 0] = times
  expect(second - first).toBeGreaterThanOrEqual(990)
  await guarded.close()
})

it('retry-after-ms goes before Retry-After, and what is no number in it is passed over', async () => {
  const waits = [
    ['150', '30', 150],
    ['soon', '1', 990],
  ] as const
  for (const [exact, seconds, least] of waits) {
    const headers = { 'retry-after-ms': exact, 'retry-after': seconds }
    const { url, times } = await serve((attempt) =>
      attempt === 0 ? { status: 503, headers, body: '{}' } : { status: 200, body: good },
    )
    const guarded = createGuardedFetch(here)
    await new ModelClient({ name: 'm', base_url: url }, guarded).complete(messages, asking, unhurried)
    const [first = 0, second = 0] = times
    expect(second - first).toBeGreaterThanOrEqual(least - 5)
    expect(second - first).toBeLessThan(20_000)
    await guarded.close()
  }
})

it('a completion is taken from a server that does not call it JSON', async () => {
  for (const type of ['text/plain', 'text/html; charset=utf-8', '']) {
    const { url } = await serve(() => ({ status: 200, headers: { 'content-type': type }, body: good }))
    const guarded = createGuardedFetch(here)
    const asked = new ModelClient({ name: 'm', base_url: url }, guarded).complete(messages, asking, unhurried)
    expect(await asked).toEqual({ content: 'yes', finish_reason: 'stop' })
    await guarded.close()
  }
})

it('a response that is not a completion is quoted without the API key', async () => {
  const bodies = {
    '{"error":{"message":"out of credit: k-secret"}}': 'out of credit: [key]',
    '<h1>Hi</h1>': 'Hi',
    '': '(empty)',
  }
  for (const [body, words] of Object.entries(bodies)) {
    const { url } = await serve(() => ({ status: 200, headers: { 'content-type': 'text/html' }, body }))
    const guarded = createGuardedFetch(here)
    const model = new ModelClient({ name: 'm', base_url: url, api_key: 'k-secret' }, guarded)
    const asked = model.complete(messages, { ...asking, retries: 0 }, unhurried)
    await expect(asked).rejects.toMatchObject({
      message: expect.stringMatching(/^the response is not a chat completion: /),
    })
    await expect(asked).rejects.toThrow(words)
    await guarded.close()
  }
})

it('an abort ends the wait at once', async () => {
  const { url } = await serve(() => ({ status: 429, headers: { 'retry-after': '500' }, body: '{}' }))
  const guarded = createGuardedFetch(here)
  const abort = new AbortController()
  const asked = new ModelClient({ name: 'm', base_url: url }, guarded).complete(messages, asking, {
    ...unhurried,
    signal: abort.signal,
  })
  setTimeout(() => abort.abort(), 50)
  await expect(asked).rejects.toMatchObject({ name: 'AbortError' })
  await guarded.close()
})
