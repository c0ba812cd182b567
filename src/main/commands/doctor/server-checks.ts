/** Checks a running server. */

import { ApiClient, makeTolerant } from '@reasoning-gym-server/cli/api-client'
import { CliError } from '@reasoning-gym-server/cli/cli-error'
import { getInterruptSignal } from '@reasoning-gym-server/cli/interrupt-signal'
import { CallerInfo } from '@reasoning-gym-server/contract/caller'
import { type Finding, fail, ok, warn } from '@reasoning-gym-server/contract/finding'
import { Readiness } from '@reasoning-gym-server/contract/overview'
import { errorMessage } from '../../../platform/throttled-log.ts'

const PROBE_TIMEOUT_MS = 5000

/** Checks a running server through `GET /readyz`. */
export async function checkReadiness(url: string): Promise<Finding> {
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).catch(
    () => undefined,
  )
  const ready = makeTolerant(Readiness).safeParse(await response?.json().catch(() => undefined)).data
  if (!ready)
    return fail(
      'Server',
      `${url} does not answer GET /readyz`,
      'check that this is the address of a reasoning-gym-server, and read its log',
    )
  const { redis, engine, workers } = ready
  if (!redis.ok)
    return fail(
      'Server',
      `Redis is not ready: ${redis.detail ?? 'no reason given'}`,
      'start that Redis, or correct the REDIS_URL of the server',
    )
  if (!engine.ok)
    return fail(
      'Server',
      `the engine is not ready: ${engine.detail ?? 'no reason given'}`,
      'read the log of the server for the cause; if Python packages are broken, delete .venv and restart',
    )
  if (!workers.ok)
    return warn(
      'Server',
      `${url} is ready, but no worker is running`,
      'start a worker with "reasoning-gym-server worker"; until then, groups stay queued',
    )
  if (redis.detail) return warn('Server', `${url} is ready, ${formatCount(workers.count)}`, redis.detail)
  return ok('Server', `${url} is ready, ${formatCount(workers.count)}`)
}

/** Which role the configured key has on the server. */
export async function checkKey(url: string, key: string | undefined): Promise<Finding> {
  try {
    const { role, runs, key: hint } = await new ApiClient(url, key).call(CallerInfo, 'GET', '/whoami')
    if (hint === null) return ok('Key', 'the server has no keys: every local caller is an admin')
    return ok('Key', `…${hint} has the role ${role}${runs ? ` on ${runs.join(', ')}` : ''}`)
  } catch (error) {
    getInterruptSignal().throwIfAborted()
    return warn('Key', describeKeyProblem(error, key), errorMessage(error))
  }
}

function describeKeyProblem(error: unknown, key: string | undefined): string {
  // only a rejected call shows that the server has keys
  if (!(error instanceof CliError && error.code === 'unauthorized'))
    return 'the server does not say which role it gives'
  return key === undefined
    ? 'the server has API keys, and REASONING_GYM_API_KEY is not set'
    : 'the server rejects the key'
}

function formatCount(workers: number): string {
  return `${workers} ${workers === 1 ? 'worker' : 'workers'}`
}
