/**
 * The two URLs of an adapter route: without a run, and with a run in the path. The operation of the second is the first
 * one's twin: equal but for the path parameter, with `OfRun` at the end of its ID.
 */
import { z } from 'zod'
import { RunName } from '../../contract/rollout.ts'

const NoParams = z.strictObject({})
const RunParams = z.strictObject({
  run: RunName.describe('Run whose settings apply and whose groups the samples join. Its first use creates it.'),
})

export interface Mount {
  url: string
  params: typeof NoParams | typeof RunParams
  /** Suffix that distinguishes the operation IDs of the two URLs. */
  idSuffix: '' | 'OfRun'
  /** Suffix of the summary. */
  summarySuffix: string
}

/** For example `/openrlhf/get_reward` and `/openrlhf/:run/get_reward`. */
export function listMounts(prefix: string, rest: string): Mount[] {
  return pairMounts(`/${prefix}/${rest}`, `/${prefix}/:run/${rest}`)
}

export function pairMounts(url: string, urlOfRun: string): Mount[] {
  return [
    { url, params: NoParams, idSuffix: '', summarySuffix: ' (without a run)' },
    { url: urlOfRun, params: RunParams, idSuffix: 'OfRun', summarySuffix: ' (in a run)' },
  ]
}

/** Returns the run that a request names, if any. */
export function getRun(params: object): string | undefined {
  return 'run' in params && typeof params.run === 'string' ? params.run : undefined
}
