import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { getFreePort } from '../../verification/support/with-server.ts'
import { type Reading, readMetrics } from '../features/operations/reading.ts'
import { openWorld, until, type World } from '../world.ts'

const WORKER = join(import.meta.dirname, '..', '..', 'src', 'main', 'worker.ts')

let world: World
const workers: ChildProcess[] = []
beforeAll(async () => {
  world = await openWorld()
})
afterAll(async () => {
  for (const worker of workers) {
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    worker.kill('SIGTERM')
    await ended
  }
  await world.close()
})

function startWorker(port: number): { output: () => string } {
  const env = {
    ...process.env,
    REDIS_URL: inject('redisUrl'),
    REDIS_PREFIX: world.prefix,
    WORKER_PORT: String(port),
    PYTHON_WORKERS: '1',
  }
  const child = spawn(process.execPath, [WORKER], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  workers.push(child)
  return { output: () => output }
}

const readValue = ({ samples }: Reading, metric: string) => samples.find(({ name }) => name === metric)?.value

it('a standalone worker exports its own metrics on WORKER_PORT, and runs without a port that is taken', async () => {
  const port = await getFreePort()
  startWorker(port)
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  const ready = await until(
    () =>
      get('/readyz').then(
        (answer) => answer.status,
        () => 0,
      ),
    (status) => status === 200,
    60_000,
  )
  expect(ready).toBe(200)
  expect(await (await get('/livez')).json()).toEqual({ status: 'alive' })
  const own = readMetrics(await (await get('/metrics')).text())
  expect(own.samples.filter(({ name }) => name === 'rgs_process_up')).toEqual([
    { name: 'rgs_process_up', labels: { process: expect.any(String), role: 'worker' }, value: 1 },
  ])
  expect([readValue(own, 'rgs_redis_up'), own.types.has('rgs_workers')]).toEqual([1, false])
  expect(await (await get('/items')).json()).toMatchObject({ code: 'not_found' })

  const second = startWorker(port)
  await until(
    async () => second.output(),
    (output) => output.includes('Set WORKER_PORT to a free port'),
    60_000,
  )
  const both = await until(
    async () => readMetrics((await world.app.inject('/metrics')).body),
    (reading) => readValue(reading, 'rgs_workers') === 2,
    60_000,
  )
  expect(readValue(both, 'rgs_workers')).toBe(2)
}, 240_000)
