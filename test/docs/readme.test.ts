/** The first session of the README runs as it is printed, and prints what the README shows. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, type World } from '../world.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const runFile = promisify(execFile)
const MAX_LINES = 120

let world: World
let url: string
beforeAll(async () => {
  world = await openWorld({ worker: true })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => world.close())

it('the first session prints what the README shows', { timeout: 60_000 }, async () => {
  const steps = [...README.matchAll(/```bash\n([\s\S]*?)```\s+```text\n([\s\S]*?)```/g)]
  expect(steps).toHaveLength(2)
  const outputs: string[] = []
  for (const [, code = ''] of steps) {
    const script = code.replaceAll('http://127.0.0.1:8000', url)
    const { stdout } = await runFile('bash', ['-euo', 'pipefail', '-c', script], { cwd: ROOT })
    outputs.push(stdout.trim())
  }
  expect(outputs).toEqual(steps.map(([, , output = '']) => output.trim()))
})

it(`the README has at most ${MAX_LINES} lines`, () =>
  expect(README.trimEnd().split('\n').length).toBeLessThanOrEqual(MAX_LINES))
