import { spawn } from 'node:child_process'
import { afterAll, expect, it } from 'vitest'
import { ProcessDeadline } from '../../src/engine/process-deadline.ts'
import { until } from '../world.ts'

const DEADLINE_MS = 500
const child = spawn('sh', ['-c', 'while read -r line; do echo "$line"; done'])
afterAll(() => child.stdin.end())

const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

it('an answer that lies unread when the deadline passes counts, and silence does not', async () => {
  let expired = 0
  const deadline = new ProcessDeadline(child.pid ?? 0, () => expired++)
  const answer = new Promise((resolve) => child.stdout.once('data', resolve))
  deadline.start(DEADLINE_MS)
  child.stdin.write('answer\n')
  standStill(3 * DEADLINE_MS)
  await answer
  expect(expired).toBe(0)
  deadline.stop()
  const startedAt = performance.now()
  deadline.start(DEADLINE_MS)
  await until(
    async () => expired,
    (count) => count === 1,
  )
  expect(performance.now() - startedAt).toBeGreaterThan(DEADLINE_MS - 50)
})

it('the time in which this process stands still is given back', async () => {
  let expiredAt = 0
  const deadline = new ProcessDeadline(child.pid ?? 0, () => (expiredAt = performance.now()))
  deadline.start(DEADLINE_MS)
  standStill(3 * DEADLINE_MS)
  const awakeAt = performance.now()
  await until(
    async () => expiredAt,
    (at) => at > 0,
  )
  expect(expiredAt - awakeAt).toBeGreaterThan(DEADLINE_MS - 50)
})

it('an event loop that is always late does not keep a process that hangs alive', async () => {
  const deadlineMs = 4 * DEADLINE_MS
  let expiredAt = 0
  const deadline = new ProcessDeadline(child.pid ?? 0, () => (expiredAt = performance.now()))
  const load = setInterval(() => standStill(60), 70)
  const startedAt = performance.now()
  deadline.start(deadlineMs)
  await until(
    async () => expiredAt,
    (at) => at > 0,
  ).finally(() => clearInterval(load))
  expect(expiredAt - startedAt).toBeLessThan(6 * deadlineMs) // eight times, if it were forgiven each time
})
