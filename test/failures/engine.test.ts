/** Rows of docs/operations/failures.md: the engine's Python is deleted under a running server; a server with another engine version comes. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { claimEngineVersion } from '../../src/features/operations/engine-version-claim.ts'
import { connectForRequests } from '../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../src/platform/redis/keys.ts'
import { startChildServer } from '../../verification/support/with-server.ts'
import { openWorld, until } from '../world.ts'
import { clientOf } from './server.ts'

const SLOW = { timeout: 240_000 }
const HOSTED = { task: 'simple_integration', seed: 7 }
const NATIVE = { task: 'leg_counting', seed: 42 }

it('its Python deleted: work is refused, accepted groups wait; put back, all goes on by itself', SLOW, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-venv-'))
  const copy = join(folder, 'venv')
  execFileSync('cp', ['-al', dirname(dirname(inject('python'))), copy]) // links: deleting the copy leaves the original
  const world = await openWorld({ worker: true, python: join(copy, 'bin', 'python') })
  const { call } = world
  const score = async (recipe: object, answer: string) =>
    (await call('POST', '/score', { rollouts: [{ recipe, answer }], dual_format: false })).body.verdicts[0]
  try {
    const { items } = (await call('POST', '/items', HOSTED)).body
    const { answer } = (await call('GET', `/items/${items[0].id}?reveal=true`)).body
    expect(await score(HOSTED, answer)).toMatchObject({ status: 'scored', score: 1 })
    expect(await score(NATIVE, '100')).toMatchObject({ score: 1 })

    renameSync(copy, `${copy}-gone`) // nothing is left under its name; taking away thousands of files would slow down Redis
    killZygotes()
    await until(
      async () => world.engine.health().ok,
      (ok) => !ok,
    )
    const ready = await call('GET', '/readyz')
    expect([ready.status, ready.body.engine.ok]).toEqual([503, false])
    for (const [path, body] of [
      ['/items', { task: 'gcd', seed: 5 }],
      ['/score', { rollouts: [{ recipe: NATIVE, answer: '100' }] }],
    ] as const) {
      const refused = await call('POST', path, body)
      expect([refused.status, refused.body.code]).toEqual([503, 'engine_unavailable'])
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    }
    // Accepted while the engine is away: the job waits for it.
    const rollouts = [{ completion: `<answer>${answer}</answer>` }, { completion: '<answer>7</answer>' }]
    const posted = await call('POST', '/rollouts', { run: 'r', item_id: items[0].id, group_id: 'g', rollouts })
    expect(posted.status).toBe(202)

    renameSync(`${copy}-gone`, copy)
    const group = await until(
      () => call('GET', '/rollouts/g?run=r'),
      ({ body }) => body.status !== 'queued',
      120_000,
    )
    expect(group.body).toMatchObject({ status: 'scored', verdicts: [{ score: 1 }, { status: 'scored' }] })
    expect((await call('GET', '/readyz')).status).toBe(200)
  } finally {
    await world.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

/** Those of this process. */
function killZygotes(): void {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args=']).toString().trim().split('\n')
  for (const line of lines) {
    const [pid, ppid] = line.trim().split(/\s+/)
    if (ppid === String(process.pid) && line.includes('zygote.py')) process.kill(Number(pid), 'SIGKILL')
  }
}

it('a server with another engine version on the same Redis is waited for, and refused in one line', SLOW, async () => {
  const url = inject('redisUrl')
  const prefix = `two-${process.pid}`
  const redis = connectForRequests({ url, prefix })
  const keys = createRedisKeys(prefix)
  const said: string[] = []
  const say = (other: string) => void said.push(other)
  const other = await claimEngineVersion(redis, keys, {
    version: '0.0.1',
    processName: 'other',
    onConflict: say,
    onClaimLost: say,
  })
  const env = { REDIS_URL: url, REDIS_PREFIX: prefix, API_PROCESSES: '1', WORKERS: '1', PYTHON_WORKERS: '1' }
  const refusal = await startChildServer(env).then(
    async (server) => `it started${await server.stop()}`,
    (error: Error) => error.message,
  )
  expect(refusal).toContain('This Redis serves reasoning-gym 0.0.1')
  expect(refusal).toContain('REDIS_PREFIX')
  await other?.close()
  // The other has ended: this one starts at once, and now the other waits for it.
  const server = await startChildServer(env)
  const later = claimEngineVersion(redis, keys, {
    version: '0.0.1',
    processName: 'other',
    onConflict: say,
    onClaimLost: say,
  })
  try {
    expect((await clientOf(server.url).post('r', 'g', 'wait=30')).body.status).toBe('scored')
    expect(said).toContain('0.1.25')
  } finally {
    await server.stop()
    const claim = await later
    await claim?.close()
    redis.disconnect()
    expect(claim).toBeDefined()
  }
})
