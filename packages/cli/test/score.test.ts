import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, it } from 'vitest'
import { run } from './run-here.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const folder = mkdtempSync(join(tmpdir(), 'rgs-score-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const LINE_CHARS = 1 << 19
const score = (file: string, port = 9) => run(['score', file, '--url', `http://127.0.0.1:${port}`])

function writeInput(name: string, content: Uint8Array): string {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

it('keeps no lines that are scored', async () => {
  const heapBytes: number[] = []
  const server = createServer((request, response) => {
    request.resume()
    collectGarbage()
    heapBytes.push(process.memoryUsage().heapUsed)
    response.end('{"rewards":[],"verdicts":[]}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const file = writeInput('long.jsonl.gz', gzipSync(`"${'x'.repeat(LINE_CHARS)}"\n`.repeat(160)))
  await score(file, (server.address() as AddressInfo).port)
  server.close()
  expect(heapBytes).toHaveLength(10)
  expect(Math.max(...heapBytes) - Math.min(...heapBytes)).toBeLessThan(40 * LINE_CHARS)
})

it.each([
  ['a missing file', join(folder, 'none.jsonl'), 'ENOENT'],
  ['a missing compressed file', join(folder, 'none.jsonl.gz'), 'ENOENT'],
  ['a folder', folder, 'EISDIR'],
  ['a file that is not compressed', writeInput('plain.gz', Buffer.from('{}')), 'incorrect header check'],
  ['half of a compressed file', writeInput('half.gz', gzipSync('{}').subarray(0, 12)), 'unexpected end of file'],
])('%s is reported', async (_name, file, reason) => {
  const { code, stderr } = await score(file)
  expect([code, stderr]).toEqual([1, expect.stringContaining(`Cannot read ${file}: ${reason}`)])
})
