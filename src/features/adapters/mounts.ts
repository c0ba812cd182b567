/**
 * The two places of an adapter's routes: without a run, and with a run in the path. The operation at the second is the
 * first one's twin: equal but for the path parameter, with `OfRun` at the end of its ID.
 */

import type { FOREIGN_WIRES } from '@reasoning-gym-server/contract/adapter'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import type { FastifyContextConfig } from 'fastify'
import { z } from 'zod'

const NoParams = z.strictObject({})
const RunParams = z.strictObject({
  run: RunName.describe('Run whose settings apply and whose groups the samples join. It must exist: PUT it first.'),
})

/** The name of a foreign wire, or `adapters` for ours. */
type Tag = 'rewards' | keyof typeof FOREIGN_WIRES

export interface Mount {
  tag: Tag
  base: string
  params: typeof NoParams | typeof RunParams
  /** Without a run, anyone who may score; with one, trainers. A wire may say otherwise. */
  config: FastifyContextConfig
  /** Suffix that distinguishes the operation IDs of the two places. */
  idSuffix: '' | 'OfRun'
  summarySuffix: string
}

/** For example `/openrlhf` and `/openrlhf/:run`. */
export function listMounts(tag: Tag, base = `/${tag}`, baseOfRun = `${base}/:run`): Mount[] {
  return [
    { base, tag, params: NoParams, config: { access: 'scorers' }, idSuffix: '', summarySuffix: ' (without a run)' },
    {
      base: baseOfRun,
      tag,
      params: RunParams,
      config: { access: 'trainers' },
      idSuffix: 'OfRun',
      summarySuffix: ' (in a run)',
    },
  ]
}

/** Returns what the schema of a route says apart from its bodies and responses. */
export function describeOperation({ tag, params, idSuffix, summarySuffix }: Mount, id: string, summary: string) {
  return { operationId: `${id}${idSuffix}`, tags: [tag], summary: `${summary}${summarySuffix}`, params }
}

export function getRun(params: object): string | undefined {
  return 'run' in params && typeof params.run === 'string' ? params.run : undefined
}
