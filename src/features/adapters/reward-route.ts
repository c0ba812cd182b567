/**
 * The reward URLs: one route over `SampleScoring` for every trainer. A trainer's wire format is a `RewardWire`, which
 * reads a request as samples and writes their rewards as the response.
 */

import type { AdapterName, FOREIGN_WIRES } from '@reasoning-gym-server/contract/adapter'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import type { FeedbackLevel } from '@reasoning-gym-server/contract/verdict'
import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { LARGE_BODY_LIMIT_BYTES } from '../../http/bodies/request-bodies.ts'
import { IfMatchHeaders } from '../../http/request-headers.ts'
import { withFastParser } from '../../http/validation.ts'
import type { SampleScoring } from './sample-scoring.ts'
import type { Sample, SampleCall, SampleResult } from './samples.ts'
import { observeDelivery } from './trainer-calls.ts'

/** A sample as the request has it: `label` is the item ID, or whatever the trainer sends in its place. */
export interface SentSample extends Omit<Sample, 'itemId'> {
  label: unknown
}

/** The number to train on. A call with `mean` or `zero` has one for each sample. */
export function getReward({ verdict, substitute }: SampleResult): number {
  const reward = verdict.reward ?? substitute
  if (reward === undefined) throw new ServiceError('internal', 'An unscored sample has no substitute reward.')
  return reward
}

/** What a call says besides its headers. */
type CallContent<Body, Query> = Pick<ParsedRequest<Body, Query>, 'body' | 'query'>

export interface RewardWire<Body, Query> {
  adapter: AdapterName
  /**
   * `foreign`: a call without any item ID gets a 400 with `hint`, which names the option to set. `ours`: our client files,
   * which understand problem documents and may send `If-Match`.
   */
  client:
    | { kind: 'foreign'; hint: string }
    | { kind: 'ours'; getAdapter(body: Body): AdapterName; getFeedback(body: Body): FeedbackLevel | undefined }
  tag: 'rewards' | keyof typeof FOREIGN_WIRES
  /** The URL without a run, and with one in the path. */
  urls: readonly [string, `${string}/:run/${string}`]
  operationId: string
  summary: string
  body: z.ZodType<Body>
  query: z.ZodType<Query>
  response: z.ZodType
  /** How long to retry failures of the server: the timeout of the trainer's client minus a margin. */
  retryWindowMs: number
  /** Reads what the caller wants for its groups and for samples that could not be scored. */
  getOptions(call: CallContent<Body, Query>): Pick<SampleCall, 'unscored' | 'siblingWindowMs' | 'groupSize'>
  /** Reads the samples of a request, in the order in which they are rewarded. */
  read(body: Body): SentSample[]
  /** Writes the response: JSON text, or an object that is serialized by the schema of the response. */
  write(samples: SampleResult[], call: CallContent<Body, Query>): string | object
}

export const NoQuery = z.strictObject({})

/** A query that is empty, as nearly all are, has the defaults. */
export function skipEmptyQuery<Query extends z.ZodObject>(query: Query): Query {
  const defaults: object = query.parse({})
  return withFastParser(query, (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return Object.keys(value).length === 0 ? { ...defaults } : undefined
  })
}

/** For URLs that a trainer takes from its configuration, and whose response needs a number for each sample. */
export const RewardUrlQuery = skipEmptyQuery(
  z.strictObject({
    n: z.coerce
      .number()
      .int()
      .min(1)
      .max(1024)
      .optional()
      .describe(
        'Number of completions that the trainer samples for a prompt, if it differs from `group_size` of the run.',
      ),
    unscored: z
      .enum(['mean', 'zero'])
      .default('mean')
      .describe(
        'Reward of a sample that could not be scored. `mean`: the mean reward of its group, once the group is complete; if it does not complete in time or has no reward, the mean reward of the task in the run; 503 until there is one, and without a run. `zero`: 0.',
      ),
  }),
)
export type RewardUrlQuery = z.infer<typeof RewardUrlQuery>

const NoParams = z.strictObject({})
const RunParams = z.strictObject({
  run: RunName.describe('Run whose settings apply and whose groups the samples join. It must exist: PUT it first.'),
})

interface ParsedRequest<Body, Query> {
  params: { run?: string }
  body: Body
  query: Query
  headers: z.infer<typeof IfMatchHeaders>
}

export function addRewardRoutes<Body, Query>(
  app: App,
  { samples }: { samples: SampleScoring },
  wire: RewardWire<Body, Query>,
): void {
  const { client, retryWindowMs } = wire
  for (const [k, url] of wire.urls.entries()) {
    const inRun = k === 1
    const isConditional = inRun && client.kind === 'ours' // foreign trainers send no entity tags on purpose
    app.post(
      url,
      {
        config: { access: inRun ? 'trainers' : 'scorers' },
        bodyLimit: LARGE_BODY_LIMIT_BYTES,
        schema: buildSchema(wire, inRun, isConditional),
      },
      async (request, reply) => {
        const { params, body, query, headers } = request as ParsedRequest<Body, Query> // by the schemas above
        const { run } = params
        const sent = wire.read(body)
        const itemIds = sent.map(({ label }) => (typeof label === 'string' && label !== '' ? label : undefined))
        if (client.kind === 'foreign' && sent.length > 0 && itemIds.every((itemId) => itemId === undefined))
          throw new ServiceError('invalid_request', client.hint)
        const results = await samples.score({
          adapter: client.kind === 'ours' ? client.getAdapter(body) : wire.adapter,
          run,
          caller: request.caller,
          samples: sent.map((sample, k) => ({ ...sample, itemId: itemIds[k] })),
          retryWindowMs,
          feedback: client.kind === 'ours' ? client.getFeedback(body) : undefined,
          ...wire.getOptions({ body, query }),
          condition: isConditional ? headers['if-match'] : undefined,
          delivery: run === undefined ? undefined : observeDelivery(reply),
        })
        const answer = wire.write(results, { query, body })
        return typeof answer === 'string' ? reply.type('application/json').send(answer) : reply.send(answer)
      },
    )
  }
}

/** The operation in a run is the twin of the one without, with `OfRun` at the end of its ID. */
function buildSchema<Body, Query>(wire: RewardWire<Body, Query>, inRun: boolean, isConditional: boolean) {
  return {
    operationId: `${wire.operationId}${inRun ? 'OfRun' : ''}`,
    tags: [wire.tag],
    summary: `${wire.summary} (${inRun ? 'in' : 'without'} a run)`,
    params: inRun ? RunParams : NoParams,
    description: inRun
      ? 'The settings of the run apply, and the server gathers the completions of one item into a group.'
      : 'The default settings apply, and the server stores nothing.',
    querystring: wire.query,
    ...(isConditional && { headers: IfMatchHeaders }),
    body: wire.body,
    response: { 200: wire.response },
    problems: [
      'engine_unavailable',
      ...(inRun ? (['unknown_run'] as const) : []),
      ...(isConditional ? (['run_changed'] as const) : []),
    ] as const,
  }
}
