/** The server itself: whether the one that runs is ready, and on request whether a new one would be. */
import { z } from 'zod'
import { startChildServer } from '../../main/bootstrap/child-server.ts'
import { ApiClient } from '../api-client.ts'
import { getInterruptSignal } from '../interrupt-signal.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const ReadinessPart = z.looseObject({ ok: z.boolean(), detail: z.string().optional() })
const ReadinessResponse = z.object({
  redis: ReadinessPart,
  engine: ReadinessPart,
  workers: z.looseObject({ ok: z.boolean(), count: z.int() }),
})
const PROBE_TIMEOUT_MS = 5000

/** What /readyz says. */
export async function checkReadiness(url: string): Promise<Finding> {
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).catch(
    () => undefined,
  )
  const ready = ReadinessResponse.safeParse(await response?.json().catch(() => undefined)).data
  if (!ready)
    return fail('Server', `${url} does not say whether it is ready`, 'is it a reasoning-gym-server? Its log says more')
  const { redis, engine, workers } = ready
  if (!redis.ok) return fail('Server', `its Redis: ${redis.detail ?? 'not ready'}`, 'see to its REDIS_URL')
  if (!engine.ok)
    return fail(
      'Server',
      `its engine: ${engine.detail ?? 'not ready'}`,
      'its log says why; delete .venv if packages are broken',
    )
  if (!workers.ok)
    return warn('Server', `${url} is ready, without workers`, 'start one (reasoning-gym-server worker): groups wait')
  if (redis.detail) return warn('Server', `${url} is ready, ${workers.count} workers`, redis.detail)
  return ok('Server', `${url} is ready, ${workers.count} workers`)
}

const ItemListResponse = z.object({ items: z.tuple([z.looseObject({ id: z.string() })]) })
const RewardsResponse = z.object({ rewards: z.array(z.number().nullable()) })

/** Starts a server in a folder of its own, makes an item on it and scores an answer. */
export async function checkTrialServer(): Promise<Finding> {
  const started = performance.now()
  try {
    const own = await startChildServer(
      { HOST: '127.0.0.1', API_KEYS: '', API_KEYS_FILE: '', API_PROCESSES: '1', WORKERS: '1' },
      getInterruptSignal(),
    )
    try {
      const server = new ApiClient(own.url)
      const { items } = await server.callWithRetry(ItemListResponse, 'POST', '/items', {
        task: 'leg_counting',
        seed: 42,
      })
      const rollouts = [{ item_id: items[0].id, completion: '<answer>100</answer>' }]
      const { rewards } = await server.callWithRetry(RewardsResponse, 'POST', '/score', { rollouts, detail: 'rewards' })
      if (rewards[0] !== 1)
        return fail(
          'Trial',
          `a right answer was given ${rewards[0]}`,
          'the library in .venv is not the pinned one: delete .venv',
        )
    } finally {
      await own.stop()
    }
  } catch (error) {
    getInterruptSignal().throwIfAborted()
    return fail('Trial', 'a server of its own does not work', error instanceof Error ? error.message : String(error))
  }
  return ok(
    'Trial',
    `a server started, made an item and scored it: ${((performance.now() - started) / 1000).toFixed(1)} s`,
  )
}
