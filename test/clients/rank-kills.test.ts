/** The documented synchronous loop under kills; `npm run verify -- rank-kills` does the same for 40 steps. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { runRankKills } from '../../verification/rank-kills/run-rank-kills.ts'
import { type ChildServer, startChildServer } from '../../verification/support/with-server.ts'

let server: ChildServer
beforeAll(async () => {
  server = await startChildServer({ API_PROCESSES: '1', WORKERS: '1', PYTHON_WORKERS: '1' })
}, 300_000)
afterAll(() => server.stop())

it('ranks that are killed and start again count each item once, and share the same batches', {
  timeout: 200_000,
}, async () => {
  const options = { url: server.url, python: inject('python'), steps: 8, items: 6, kills: 10, seed: 3 }
  const report = await runRankKills({ ...options, deadlineMs: 180_000 })
  expect(report).toMatchObject({ violations: [], groups: 48, items: 48 })
  expect(report.kills).toBeGreaterThanOrEqual(5) // the last may come after the last step
})
