/** Rows of docs/operations/failures.md: the engine's Python is deleted under a running server; a server with another engine version comes. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import { claimEngineVersion } from '../../src/features/operations/engine-version-claim.ts'
import { connectForRequests } from '../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../src/platform/redis/keys.ts'
import { listProcesses } from '../../verification/support/processes.ts'
import { startChildServer } from '../../verification/support/with-server.ts'
import { type Answer, openWorld, until, type World } from '../world.ts'
import { clientOf } from './server.ts'

const SLOW = { timeout: 240_000 }
const HOSTED = { task: 'simple_integration', seed: 7 }
const NATIVE = { task: 'leg_counting', seed: 42 }

it('its Python deleted under load: work is refused, accepted groups wait; put back, all goes on', SLOW, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-python-'))
  const python = join(folder, 'python')
  writeFileSync(python, `#!/bin/sh\nexec '${inject('python')}' "$@"\n`, { mode: 0o755 })
  const world = await openWorld({ worker: true, python })
  // A busy disk may keep Redis for longer than a request waits: a client asks again, and what is sent twice counts once.
  const call: World['call'] = (...args) =>
    until(
      () => world.call(...args),
      ({ body }) => body?.code !== 'redis_unavailable',
      60_000,
    )
  let load: ReturnType<typeof startLoad> | undefined
  const score = async (recipe: object, answer: string) =>
    (await call('POST', '/score', { rollouts: [{ recipe, answer }], dual_format: false })).body.verdicts[0]
  try {
    const { items } = (await call('POST', '/items', HOSTED)).body
    const { body } = await call('GET', `/items/${items[0].id}?reveal=true`)
    const answer = `${body.answer} + asinh(0)` // a name that is left to sympy
    expect(await score(HOSTED, answer)).toMatchObject({ status: 'scored', score: 1 })
    expect(await score(NATIVE, '100')).toMatchObject({ score: 1 })
    for (const run of ['load', 'r']) await call('PUT', `/runs/${run}`, {})
    load = startLoad(call, items[0].id, answer)
    await load.goesOn('ok')

    renameSync(python, `${python}-gone`)
    killZygotes()
    await until(
      async () => world.engine.health().ok,
      (ok) => !ok,
    )
    await load.goesOn('refused')
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
    const rollouts = [{ completion: `<answer>${answer} - asinh(0)</answer>` }, { completion: '<answer>7</answer>' }]
    const posted = await call('POST', '/rollouts', { run: 'r', item_id: items[0].id, group_id: 'g', rollouts })
    expect(posted.status).toBe(202)

    renameSync(`${python}-gone`, python)
    const group = await until(
      () => call('GET', '/rollouts/g?run=r'),
      ({ body }) => body.status !== 'queued',
      120_000,
    )
    expect(group.body).toMatchObject({ status: 'scored', verdicts: [{ score: 1 }, { status: 'scored' }] })
    await until(
      () => call('GET', '/readyz'),
      ({ status }) => status === 200,
    )
    await load.goesOn('ok')
    await load.stop()
    await load.check()
  } finally {
    await load?.stop()
    await world.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

/** Items, scores and groups without a pause, and the ledger of what came back. */
function startLoad(call: World['call'], itemId: string, rightAnswer: string) {
  const MAX_GROUPS = 400
  const FIRST_SEED = 1000
  const PACE_MS = 10
  const counts = { ok: { items: 0, scores: 0, groups: 0 }, refused: { items: 0, scores: 0 } }
  const accepted: string[] = []
  const violations: unknown[] = []
  let stopped = false
  const repeat = async (step: (n: number) => Promise<void>, times = Number.POSITIVE_INFINITY) => {
    for (let n = 0; !stopped && n < times; n++, await sleep(PACE_MS)) await step(n)
  }
  /** True if it was answered; a refusal says that the engine is down, or that an item was not made in time. */
  const note = (kind: 'items' | 'scores', { status, body }: Answer): boolean => {
    if (status === 200) counts.ok[kind]++
    else if (status === 503 && ['engine_unavailable', 'make_timeout'].includes(body.code)) counts.refused[kind]++
    else violations.push([kind, status, body])
    return status === 200
  }
  const loops = [
    repeat(async (n) => void note('items', await call('POST', '/items', { task: 'gcd', seed: FIRST_SEED + n }))), // never cached
    repeat(async () => {
      const rollouts = [{ recipe: HOSTED, answer: rightAnswer }]
      const reply = await call('POST', '/score', { rollouts, dual_format: false })
      if (note('scores', reply)) checkVerdict(reply.body.verdicts[0], 1)
    }),
    repeat(async (n) => {
      const rollouts = [{ completion: `<answer>${rightAnswer}</answer>` }, { completion: 'none' }]
      const group = { run: 'load', item_id: itemId, group_id: `load-${n}`, rollouts }
      const { status, body } = await call('POST', '/rollouts', group)
      if (status !== 202 && status !== 200) violations.push(['group', status, body])
      counts.ok.groups++
      accepted.push(group.group_id)
    }, MAX_GROUPS),
  ]
  const checkVerdict = (verdict: { status: string; reward: number | null }, right: number) => {
    const isOurFault = verdict.status === 'unscored' && verdict.reward === null
    if (!isOurFault && verdict.reward !== right) violations.push(verdict)
  }
  return {
    /** Waits until five more calls of each kind have gone that way. */
    async goesOn(way: 'ok' | 'refused') {
      const before = { ...counts[way] }
      const now = () =>
        Object.entries(counts[way]).filter(([kind]) => kind !== 'groups' || accepted.length < MAX_GROUPS)
      await until(
        async () => now(),
        (all) => all.every(([kind, count]) => count >= before[kind as 'items'] + 5),
        60_000,
      )
    },
    async stop() {
      stopped = true
      await Promise.all(loops)
    },
    /** Each accepted group is scored once; what the engine could not score is not a 0. */
    async check() {
      expect(accepted.length).toBeGreaterThan(10)
      for (const id of accepted) {
        const { body } = await until(
          () => call('GET', `/rollouts/${id}?run=load`),
          (reply) => reply.body.status !== 'queued',
          60_000,
        )
        expect(body).toMatchObject({ status: 'scored' })
        checkVerdict(body.verdicts[0], 1)
        checkVerdict(body.verdicts[1], 0)
      }
      expect(violations).toEqual([])
      const { progress } = (await call('GET', '/runs/load')).body
      expect(progress).toMatchObject({
        groups: accepted.length,
        rollouts: 2 * accepted.length,
        scored_groups: accepted.length,
        failed_groups: 0,
        queued_groups: 0,
      })
    },
  }
}

/** Those of this process. */
function killZygotes(): void {
  for (const { pid, ppid, args } of listProcesses())
    if (ppid === process.pid && args.includes('zygote.py')) process.kill(pid, 'SIGKILL')
}

it('a server with another engine version on the same Redis is waited for, and refused in one line', SLOW, async () => {
  const url = inject('redisUrl')
  const prefix = `two-${process.pid}`
  const redis = connectForRequests({ url, prefix })
  const keys = createRedisKeys(prefix)
  const output: string[] = []
  const say = (other: string) => void output.push(other)
  const other = await claimEngineVersion(redis, keys, {
    version: '0.0.1',
    processName: 'other',
    onConflict: say,
    onClaimLost: say,
  })
  const env = { REDIS_URL: url, REDIS_PREFIX: prefix, API_PROCESSES: '1', WORKERS: '1', PYTHON_WORKERS: '1' }
  const refusal = await startChildServer({ ...env, WORKERS: '0' }).then(
    async (server) => `it started${await server.stop()}`,
    (error: Error) => error.message,
  )
  expect(refusal).toContain('waiting for process other with reasoning-gym 0.0.1 to end')
  expect(refusal).toContain('Process other uses this Redis with reasoning-gym 0.0.1')
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
    expect(output).toContain('0.1.25')
  } finally {
    await server.stop()
    const claim = await later
    await claim?.close()
    redis.disconnect()
    expect(claim).toBeDefined()
  }
})
