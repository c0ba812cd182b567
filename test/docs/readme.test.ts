/** The first session of the README runs as it is printed, and prints what the README shows. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChildServer, startChildServer } from '../../verification/support/with-server.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const MAX_LINES = 120

let server: ChildServer
beforeAll(async () => {
  server = await startChildServer()
}, 300_000)
afterAll(() => server.stop())

it('the first session prints what the README shows', { timeout: 60_000 }, () => {
  const steps = [...README.matchAll(/```bash\n([\s\S]*?)```\s+```text\n([\s\S]*?)```/g)]
  expect(steps).toHaveLength(2)
  const outputs = steps.map(([, code = '']) => {
    const script = code.replaceAll('http://127.0.0.1:8000', server.url)
    return execFileSync('bash', ['-euo', 'pipefail', '-c', script], { cwd: ROOT, encoding: 'utf8' }).trim()
  })
  expect(outputs).toEqual(steps.map(([, , output = '']) => output.trim()))
})

it(`the README has at most ${MAX_LINES} lines`, () =>
  expect(README.trimEnd().split('\n').length).toBeLessThanOrEqual(MAX_LINES))
