import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ExploitMatrix } from '../../verification/exploits/exploit-matrix.ts'
import { buildExploits } from '../../verification/exploits/exploits.ts'
import { type ServerWatch, watchServer } from '../../verification/exploits/server-watch.ts'
import { type ChildServer, startChildServer } from '../../verification/with-server.ts'

/** Where the library runs, hangs or raises on answers, and those it still scores itself; `npm run verify -- exploits` does all 105. */
const SAMPLE = [
  ...['simple_integration', 'intermediate_integration', 'codeio', 'polynomial_multiplication', 'countdown', 'puzzle24'],
  ...['binary_matrix', 'spiral_matrix', 'string_insertion', 'n_queens', 'rush_hour', 'rubiks_cube', 'coin_flip'],
  ...['propositional_logic', 'boxnet', 'game_of_life', 'time_intervals', 'prime_factorization', 'leg_counting'],
]

let server: ChildServer
let watch: ServerWatch
beforeAll(async () => {
  server = await startChildServer({ API_PROCESSES: '1', WORKERS: '1', SCORE_DEADLINE_MS: '1000' })
  watch = await watchServer(server.pid)
}, 300_000)
afterAll(async () => {
  watch.stop()
  await server.stop()
})

it('scores every attack honestly, alone and in a group, and nothing comes of it', { timeout: 300_000 }, async () => {
  const matrix = new ExploitMatrix(server.url, buildExploits(watch.marker, watch.port))
  for (const task of SAMPLE) {
    const verdicts = await matrix.scoreExploits(task, availableParallelism())
    await matrix.submitAsGroup(task, verdicts, 'attacked')
  }
  expect(matrix.report.wrong).toEqual([])
  expect(matrix.report.verdicts).toBeGreaterThan(2 * SAMPLE.length * 100)
  expect(watch.listTraces()).toEqual([])
  // The hosts are still there, and honest answers still score.
  const body = { rollouts: [{ recipe: { task: 'leg_counting', seed: 42 }, answer: '100' }], detail: 'rewards' }
  const answer = await fetch(`${server.url}/score`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(await answer.json()).toEqual({ rewards: [1] })
})

it('would see a process, a file and a socket that an answer made', async () => {
  const own = await watchServer(process.pid)
  const child = execFile('sleep', ['30'])
  await fetch(`http://127.0.0.1:${own.port}/`).catch(() => {})
  const traces = own.listTraces().join('\n')
  child.kill()
  own.stop()
  expect(traces).toContain('sleep 30')
  expect(traces).toContain('1 sockets')
})
