/**
 * The two places of an adapter's routes: without a run, and with a run in the path. The operation at the second is the
 * first one's twin: equal but for the path parameter, with `OfRun` at the end of its ID.
 */

import { RunName } from '@reasoning-gym-server/contract/rollout'
import { z } from 'zod'

const NoParams = z.strictObject({})
const RunParams = z.strictObject({
  run: RunName.describe('Run whose settings apply and whose groups the samples join. Its first use creates it.'),
})

export interface Mount {
  /** What the URLs of the routes begin with. */
  base: string
  params: typeof NoParams | typeof RunParams
  /** Suffix that distinguishes the operation IDs of the two places. */
  idSuffix: '' | 'OfRun'
  /** Suffix of the summary. */
  summarySuffix: string
}

/** For example `/openrlhf` and `/openrlhf/:run`. */
export function listMounts(base: string, baseOfRun = `${base}/:run`): Mount[] {
  return [
    { base, params: NoParams, idSuffix: '', summarySuffix: ' (without a run)' },
    { base: baseOfRun, params: RunParams, idSuffix: 'OfRun', summarySuffix: ' (in a run)' },
  ]
}

/** Returns the run that a request names, if any. */
export function getRun(params: object): string | undefined {
  return 'run' in params && typeof params.run === 'string' ? params.run : undefined
}
