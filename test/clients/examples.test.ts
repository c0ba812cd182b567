import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type RunningServer, startServer } from '../../scripts/with-server.ts'

const run = promisify(execFile)

let server: RunningServer
beforeAll(async () => {
  server = await startServer()
}, 300_000)
afterAll(() => server.stop())

/** Runs an example as a user would, and gives what it printed. */
async function example(name: string, ...args: string[]): Promise<string> {
  const path = join(import.meta.dirname, '..', '..', 'examples', name)
  const { stdout } = await run(inject('python'), [path, server.url, ...args])
  return stdout
}

it('rewards only: a TRL reward function, and a run that buffers nothing', { timeout: 60_000 }, async () => {
  const output = await example('rewards_only.py')
  expect(output).toMatch(/^\[0(\.\d+)?, 0, 0(\.\d+)?, 0(\.\d+)?, 0, 0(\.\d+)?\]$/m)
  expect(output).toContain('groups that the run has seen: 2')
})

it('verl: compute_score', { timeout: 60_000 }, async () => {
  expect(await example('verl_compute_score.py')).toMatch(/\{'score': [\d.]+, 'fault': ''\}/)
})
