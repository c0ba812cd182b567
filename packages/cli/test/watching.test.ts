import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import type { Eval } from '@reasoning-gym-server/contract/eval'
import { afterEach, expect, it } from 'vitest'
import { type Ended, run } from './run-here.ts'

const open: (Server | TcpServer)[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.close()
})

const ID = 'eval-0123456789abcdef0123'
const SOON_MS = 15_000
const running: Eval = {
  id: ID,
  status: 'running',
  model: { name: 'm', base_url: 'http://127.0.0.1:9/v1' },
  suite: { name: 'smoke', sha256: null, items: 2 },
  samples_per_item: 1,
  run: null,
  step: null,
  labels: [],
  created_at: '2026-01-01T00:00:00.000Z',
  started_at: '2026-01-01T00:00:01.000Z',
  ended_at: null,
  progress: { done: 1, total: 2, failed: 0, mean_score: null },
  failures: [],
  detail: null,
  result: null,
}
const over: Eval = { ...running, status: 'failed', detail: 'for a reason' }
const begun: RequestListener = (_, response) => void response.writeHead(202).end(JSON.stringify({ id: ID }))
const answered = (status: number, body: unknown): RequestListener => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return (_, response) => void response.writeHead(status).end(text)
}
const rubbish: RequestListener = ({ socket }) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n')
const closed: RequestListener = ({ socket }) => void socket.destroy()
const half: RequestListener = (_, response) => {
  response.writeHead(200, { 'content-length': '100' }).write('{"id":')
  setTimeout(() => response.destroy(), 20)
}

/** A server that answers its requests in turn; the last answer is for all that come after. */
async function serve(...answers: RequestListener[]): Promise<string> {
  let asked = 0
  const server = createServer((request, response) => {
    request.resume()
    response.setHeader('connection', 'close')
    answers[Math.min(asked++, answers.length - 1)]?.(request, response)
  })
  return listen(server)
}

async function listen(server: Server | TcpServer): Promise<string> {
  open.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function watched(url: string): Promise<Ended & { tookMs: number }> {
  const began = performance.now()
  const ended = await run(['eval', '--model', 'm', '--base-url', 'http://127.0.0.1:9/v1', '--url', url])
  return { ...ended, tookMs: performance.now() - began }
}

const told = ({ stderr }: Ended) => stderr.split('\n').filter((line) => line.startsWith('reasoning-gym-server: '))

it.each([
  ['text', answered(200, '<h1>Hello</h1>'), /GET http\S+ returned something other than JSON\. Check that --url/],
  ['another JSON', answered(200, { hello: 1 }), /does not understand the server’s response: .*progress/],
  [
    'a page that is not there',
    answered(404, '<h1>Hello</h1>'),
    /GET http\S+ returned 404 without an error document\. Check that --url/,
  ],
  ['no HTTP', rubbish, /Cannot call http\S+ \(.+\)\. Check that --url or REASONING_GYM_URL is the address/],
])('an eval whose server answers %s ends at once, with a line that says so', async (_name, answer, line) => {
  const ended = await watched(await serve(begun, answered(200, running), answer))
  expect(ended).toMatchObject({ code: 1 })
  expect(told(ended)).toEqual([expect.stringMatching(line)])
  expect(ended.stderr).not.toMatch(/^\s+at /m)
  expect(ended.tookMs).toBeLessThan(SOON_MS)
})

it('a server that is away for a while, restarts or is asked too often is waited for', async () => {
  const busy = answered(429, { code: 'rate_limited', detail: 'later' })
  const gateway = answered(502, '<h1>Bad Gateway</h1>')
  const ended = await watched(
    await serve(begun, answered(200, running), closed, half, gateway, busy, answered(200, over)),
  )
  expect(told(ended)).toEqual(['reasoning-gym-server: The eval did not finish. Its status is failed: for a reason'])
})

it('an eval that the server may have started is asked for again under the same name, so that it starts once', async () => {
  const keys: unknown[] = []
  const noted =
    (then: RequestListener): RequestListener =>
    (request, response) => {
      keys.push(request.headers['idempotency-key'])
      then(request, response)
    }
  const busy: RequestListener = (_, response) =>
    void response
      .writeHead(503, { 'retry-after': '0' })
      .end(JSON.stringify({ code: 'redis_unavailable', detail: 'later' }))
  await watched(await serve(noted(busy), noted(begun), answered(200, over)))
  await watched(await serve(noted(begun), answered(200, over)))
  expect(keys).toEqual([expect.stringMatching(/./), keys[0], expect.not.stringMatching(String(keys[0]))])
})

it('an eval that nobody waits for prints its ID, or the response as JSON', async () => {
  const url = await serve(answered(202, running))
  const detach = (...args: string[]) =>
    run(['eval', '--model', 'm', '--base-url', 'http://127.0.0.1:9/v1', '--url', url, '--detach', ...args])
  expect((await detach()).stdout).toBe(`${ID}\n`)
  expect(JSON.parse((await detach('--json')).stdout)).toEqual(running)
})

it('an address that speaks no HTTP, speaks it without TLS, or is no address is told from a server that is away', async () => {
  const ssh = await listen(
    createTcpServer((socket) => void socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.6\r\n')),
  )
  const plain = await serve(answered(200, ''))
  const says = async (url: string) => told(await run(['tasks', '--url', url])).join()
  expect(await says(ssh)).toMatch(/Cannot call http/)
  expect(await says(plain.replace('http', 'https'))).toMatch(/Cannot call https\S+ \(wrong version number\)/)
  expect(await says('http://127.0.0.1:9999999')).toMatch(/Cannot call \S+ \(Invalid URL\)/)
  expect(await says('http://no-such-name.invalid')).toMatch(/No server answers at/)
  expect(await says(await serve(half))).toMatch(/closed the connection before the response was complete/)
})

it('the key in a URL is sent in a header, and no message shows it', async () => {
  const keys: unknown[] = []
  const url = await serve(({ headers }, response) => {
    keys.push(headers.authorization)
    response.end('{}')
  })
  const withKey = url.replace('//', '//trainer:s%2Bcr@t%@')
  await run(['tasks', '--url', withKey])
  await run(['tasks', '--url', withKey, '--key', 'other'])
  await run(['tasks'], { env: { REASONING_GYM_URL: withKey.replace('http://', '') } })
  await run(['tasks', '--url', url.replace('//', '//trainer@'), '--key', 'other'])
  expect(keys).toEqual(['Bearer s+cr@t%', 'Bearer other', 'Bearer s+cr@t%', 'Bearer other'])
  const job = await watched((await serve(begun, answered(200, running), rubbish)).replace('//', '//trainer:secret@'))
  const misspelled = await run(['tasks', '--url', 'http://trainer:secret@127.0.0.1:9999999'])
  expect(told(misspelled).join()).toMatch(/Cannot call http:\/\/127/)
  expect(job.stderr + misspelled.stderr).not.toContain('secret')
  for (const wrong of [
    'http://trainer:sec/ret=@127.0.0.1:8000',
    'trainer:sec/ret=@127.0.0.1:8000',
    'http://ret@127.0.0.1',
    'http://trainer:secret',
  ]) {
    const refused = told(await run(['tasks', '--url', wrong], { env: { REASONING_GYM_API_KEY: 'other' } })).join()
    expect(refused).toMatch(/set --key or REASONING_GYM_API_KEY/)
    expect(refused).not.toMatch(/sec|ret|127/)
  }
})
