/** Names and messages from a server are text in the output, whatever control characters they contain. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { styleText } from 'node:util'
import { expect, it } from 'vitest'
import { replaceControls } from '../src/output.ts'
import { run } from './run-here.ts'

const HOSTILE = 'evil\u001B]0;OWNED\u0007\u001B[2J\u009B1A\rX\u202E\nnew row'
const CONTROLS = /(?!\n)[\p{Cc}\u202A-\u202E\u2066-\u2069]/u

const hostileEval = {
  id: 'eval-0123456789abcdef0123',
  status: 'failed',
  model: { name: HOSTILE, base_url: 'http://127.0.0.1:9/v1' },
  suite: { name: HOSTILE, sha256: null, items: 2 },
  samples_per_item: 1,
  run: null,
  step: null,
  labels: [],
  created_at: '2026-01-01T00:00:00.000Z',
  started_at: null,
  ended_at: null,
  progress: { done: 1, total: 2, failed: 0, mean_score: null },
  failures: [],
  detail: HOSTILE,
  result: null,
}

async function withServer(status: number, body: object, args: string[]) {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(status).end(request.url?.endsWith('/report') ? HOSTILE : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    return await run([...args, '--url', url])
  } finally {
    server.close()
  }
}

it('no name or message of a server reaches the terminal with a control character', async () => {
  const shown = await withServer(200, hostileEval, ['eval', 'report', hostileEval.id])
  const listed = await withServer(200, { evals: [{ ...hostileEval, difficulty_at_half: null }] }, ['eval', 'list'])
  const problem = { type: 'about:blank', title: HOSTILE, status: 400, code: 'invalid_request', detail: HOSTILE }
  const refused = await withServer(400, problem, ['eval', 'report', hostileEval.id])
  for (const { stdout, stderr } of [shown, listed, refused]) expect(stdout + stderr).not.toMatch(CONTROLS)
  expect(shown.stdout).toContain('evil�]0;OWNED��[2J')
  expect(refused.stderr).toContain('evil�]0;OWNED��[2J')
  expect(listed.stdout.split('\n')).toHaveLength(4) // head, line, row, end
})

it('JSON stays the same value, with all control characters escaped', async () => {
  const { stdout } = await withServer(200, hostileEval, ['eval', 'report', hostileEval.id, '--json'])
  expect(stdout).not.toMatch(CONTROLS)
  expect(JSON.parse(stdout)).toEqual(hostileEval)
})

it('the styles of the commands stay', () => {
  for (const style of ['green', 'yellow', 'red', 'dim', 'bold', 'cyan', 'underline'] as const) {
    const styled = styleText(style, 'word', { validateStream: false })
    expect(replaceControls(styled)).toBe(styled)
  }
  expect(replaceControls('\u001B[8m')).toBe('�[8m')
})
