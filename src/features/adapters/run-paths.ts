/** The two URLs of an adapter route: stateless, and with a run in the path. */

import { RunName } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'

const NoParams = z.strictObject({})
const RunParams = z.strictObject({
  run: RunName.describe('Run whose settings apply and whose groups the samples join. Its first use creates it.'),
})

export interface RunPath {
  url: string
  params: typeof NoParams | typeof RunParams
  /** Suffix that distinguishes the operation IDs of the two URLs. */
  idSuffix: '' | 'OfRun'
  /** Suffix of the summary. */
  summarySuffix: string
}

/** For example `/openrlhf/get_reward` and `/openrlhf/:run/get_reward`. */
export function listRunPaths(prefix: string, rest: string): RunPath[] {
  return [
    { url: `/${prefix}/${rest}`, params: NoParams, idSuffix: '', summarySuffix: ' (without a run)' },
    { url: `/${prefix}/:run/${rest}`, params: RunParams, idSuffix: 'OfRun', summarySuffix: ' (in a run)' },
  ]
}

/** Returns the run that a request names, if any. */
export function getRun(params: object): string | undefined {
  return 'run' in params && typeof params.run === 'string' ? params.run : undefined
}
