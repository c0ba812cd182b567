/** Row of docs/operations/failures.md: the clock of an API process or of a worker jumps. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MockModel, startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChildServer, startChildServer } from '../../verification/support/with-server.ts'
import { until } from '../world.ts'
import { type Client, clientOf } from './server.ts'

const HOUR_MS = 3_600_000
const RUN = 'clock'
const COLLECTED = 'collected'
/** Half an hour: a clock that is an hour ahead would end each lease at once. */
const SETTINGS = { tasks: ['leg_counting'], item_lease_s: 1800, batch_size: 2, group_size: 2, min_trained_tokens: 0 }
const ONE_OF_EACH = {
  API_PROCESSES: '1',
  WORKERS: '1',
  PYTHON_WORKERS: '1',
  DUMP_IDLE_FLUSH_S: '1',
  LOG_LEVEL: 'debug',
}

let folder: string
let server: ChildServer
let client: Client
let groups: string[] = []
let model: MockModel
/** The ETag of the run, which stays the same. */
let etag = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rgs-clock-'))
  setClocks({})
  server = await startChildServer({
    ...ONE_OF_EACH,
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'clock.ts')}`,
    CLOCK_OFFSET_FILE: join(folder, 'offsets'),
  })
  client = clientOf(server.url)
  const created = await client.call('PUT', `/runs/${RUN}`, { ...SETTINGS, dump_rollouts: 'all' })
  etag = String(created.headers.etag)
  await client.call('PUT', `/runs/${COLLECTED}`, SETTINGS)
  model = await startMockModel({ server: { url: server.url }, accuracy: 1, latencyMs: 300 })
  await work()
}, 120_000)
afterAll(async () => {
  await server?.stop()
  await model?.close()
  rmSync(folder, { recursive: true, force: true })
})

it.each([
  ['api', 1],
  ['api', -1],
  ['api', 24],
  ['worker', 1],
  ['worker', -24],
])(
  'the clock of the %s jumps by %i h and back: nothing waits for it, ends early or is lost',
  { timeout: 120_000 },
  async (role, hours) => {
    const generating = await startGenerating()
    setClocks({ [role]: hours * HOUR_MS })
    await work()
    await untilGenerated(generating)
    if (role === 'worker') await waitForDumps()
    expect(loggedHours(role)).toContain(hours) // it did jump
    const others = await startGenerating()
    setClocks({})
    await work()
    await untilGenerated(others)
    if (role === 'worker') await waitForDumps()
    await client.expectKept(RUN, groups)
  },
)

/** What trainers, evals and operators do; all of it has to go on at once. */
async function work(): Promise<void> {
  const { call } = client
  const step = groups.length
  const group = `g${step}`
  groups = [...groups, group]
  await client.postUntilScored(RUN, group)
  let tries = 0
  const ask = () => call('POST', '/items', { run: RUN, count: 2 }, { 'idempotency-key': `${group}-${tries}` })
  const next = await until(
    () => {
      tries++
      return ask()
    },
    ({ body }) => body.items?.length === 2,
  )
  for (const item of next.body.items) expect(item.again).toBeUndefined() // no lease has ended
  expect((await ask()).body).toEqual(next.body)
  const ofStep = await call('POST', '/items', { run: RUN, step, count: 2 }, { prefer: 'wait=60' })
  expect(ofStep.body.items).toHaveLength(2)
  const batch = await call('POST', `/runs/${RUN}/batches`, { step }, { prefer: 'wait=20' })
  expect(batch.body.groups.map(({ group_id }: { group_id: string }) => group_id)).toEqual([group])
  expect((await call('POST', `/runs/${RUN}/batches/${step}/ack`, {})).status).toBe(200)
  await runEval()
  await until(
    () => call('GET', '/readyz'),
    ({ body }) => body.workers.count === 1,
  )
  const { status, body: run } = await call('GET', `/runs/${RUN}`, undefined, { 'if-match': etag })
  expect(status).toBe(200)
  expect(Math.abs(Date.parse(run.tasks.leg_counting.last_at) - Date.now())).toBeLessThan(HOUR_MS / 2)
}

/** A schedule of the workers, every five seconds, writes the groups that wait for a file once none has come for a second. */
async function waitForDumps(): Promise<void> {
  await until(
    async () => (await client.call('GET', `/dumps?run=${RUN}`)).body.files as { groups: number }[],
    (files) => files.reduce((sum, file) => sum + file.groups, 0) === groups.length,
    30_000,
  )
}

/** An eval and a collection, which are under way when the clock jumps. */
async function startGenerating(): Promise<string[]> {
  const place = { name: 'm', base_url: model.url }
  const suite = { tasks: ['leg_counting'], n: 10 }
  const started = await Promise.all([
    client.call('POST', '/eval', { model: place, suite, concurrency: 2 }),
    client.call('POST', `/runs/${COLLECTED}/collect`, { model: place, groups: 2, concurrency: 1 }),
  ])
  expect(started.map(({ status }) => status)).toEqual([202, 202])
  const [measured, collection] = started.map(({ body }) => body.id)
  return [`/eval/${measured}`, `/runs/${COLLECTED}/collect/${collection}`]
}

async function untilGenerated(paths: string[]): Promise<void> {
  for (const path of paths) {
    const { body } = await until(
      () => client.call('GET', path),
      ({ body }) => body.status !== 'queued' && body.status !== 'running',
      30_000,
    )
    expect(body).toMatchObject({ status: 'done', progress: { failed: 0 } })
  }
}

async function runEval(): Promise<void> {
  const { call } = client
  const suite = { tasks: ['leg_counting'], n: 2 }
  const { body } = await call('POST', '/eval', { model: null, suite })
  expect(Math.abs(Date.parse(body.created_at) - Date.now())).toBeLessThan(HOUR_MS / 2)
  const { items } = (await call('GET', `/eval/${body.id}/items`)).body
  const completions = items.map(({ sample_id }: { sample_id: string }) => ({
    sample_id,
    completion: '<answer>1</answer>',
  }))
  await call('POST', `/eval/${body.id}/completions`, { completions })
  await until(
    () => call('GET', `/eval/${body.id}`),
    (view) => view.body.status === 'done',
  )
}

/** Written at once: the processes read it all the time. */
function setClocks(offsets: Record<string, number>): void {
  writeFileSync(join(folder, 'offsets.new'), JSON.stringify(offsets))
  renameSync(join(folder, 'offsets.new'), join(folder, 'offsets'))
}

/** By how many hours the lines of a process are off. */
function loggedHours(role: string): number[] {
  const lines = server
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  const own = lines
    .map((line) => JSON.parse(line) as { name: string; time: number })
    .filter(({ name }) => name === role)
  return own.map(({ time }) => Math.round((time - Date.now()) / HOUR_MS))
}
