/**
 * The reward URLs: one route over `SampleScoring` for every trainer. A trainer's wire format is a `RewardWire`, which
 * reads a request as samples and writes their rewards as the response.
 */

import type { AdapterName, FOREIGN_WIRES } from '@reasoning-gym-server/contract/adapter'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import type { FeedbackLevel } from '@reasoning-gym-server/contract/verdict'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { enableLingeringClose } from '../../http/connections/lingering-close.ts'
import { IfMatchHeaders } from '../../http/request-headers.ts'
import { withFastParser } from '../../http/validation.ts'
import type { SampleScoring } from './sample-scoring.ts'
import type { Sample, SampleCall, SampleResult } from './samples.ts'
import { observeDelivery } from './trainer-calls.ts'

/** A sample as the request has it: `label` is the item ID, or whatever the trainer sends in its place. */
export interface SentSample extends Omit<Sample, 'itemId'> {
  label: unknown
}

/** A result with the number to train on, also if the sample is unscored. */
export interface RewardedSample extends SampleResult {
  reward: number
}

/** What a response may depend on apart from the results. */
interface AnsweredCall<Body, Query> {
  query: Query
  /** Undefined if the body was too large to be read. */
  body: Body | undefined
}

export interface RewardWire<Body, Query> {
  adapter: AdapterName
  /**
   * `foreign`: an error would end the training, so a body that is too large is an unscored sample; a trainer that has
   * never sent an item ID gets a 400 with `hint`, which names the option to set. `ours`: our client files, which
   * understand problem documents and may send `If-Match`.
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
  getOptions(
    call: Pick<ParsedRequest<Body, Query>, 'body' | 'query'>,
  ): Pick<SampleCall, 'siblingWindowMs' | 'groupSize'>
  /** Reads the samples of a request, in the order in which they are rewarded. */
  read(body: Body): SentSample[]
  /** Writes the response: JSON text, or an object that is serialized by the schema of the response. */
  write(samples: RewardedSample[], call: AnsweredCall<Body, Query>): string | object
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
        'Reward of a sample that could not be scored. `mean`: the mean reward of the other samples of its item so far; the call waits for the first of them, and only then gets 0. `zero`: 0.',
      ),
  }),
)
export type RewardUrlQuery = z.infer<typeof RewardUrlQuery>

export const REWARD_BODY_BYTES = 64 * 1024 * 1024

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
  const labels = new LabelReader(client.kind === 'foreign' ? client.hint : undefined)
  for (const [k, url] of wire.urls.entries()) {
    const inRun = k === 1
    const isConditional = inRun && client.kind === 'ours' // foreign trainers send no entity tags on purpose
    app.post(
      url,
      {
        config: { access: inRun ? 'trainers' : 'scorers' },
        bodyLimit: REWARD_BODY_BYTES,
        ...(client.kind === 'foreign' && { errorHandler: sendUnscoredIfTooLarge(samples, wire) }),
        schema: buildSchema(wire, inRun, isConditional),
      },
      async (request, reply) => {
        const { params, body, query, headers } = request as ParsedRequest<Body, Query> // by the schemas above
        const { run } = params
        const sent = wire.read(body)
        const sentLabels = sent.map(({ label }) => label)
        const itemIds = labels.read(sentLabels, request.caller.id, run)
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
        const rewarded = results.map((result) => ({
          ...result,
          reward: result.verdict.reward ?? result.substitute ?? 0,
        }))
        return sendReward(reply, wire.write(rewarded, { query, body }))
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

/** Answers a sample that is larger than a body may be as unscored, since an error would end the run of the trainer. */
function sendUnscoredIfTooLarge<Body, Query>(samples: SampleScoring, wire: RewardWire<Body, Query>) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    if (!(error instanceof ServiceError) || error.code !== 'body_too_large') throw error
    const { run } = request.params as { run?: string } // validated before the body is read or not at all
    enableLingeringClose(request.raw)
    reply.removeHeader('connection') // the rest of the body is read and thrown away
    const result = samples.recordUnreadable(wire.adapter, run, error)
    const { data } = wire.query.safeParse(request.query) // which is validated after the body
    const call = { query: data ?? wire.query.parse({}), body: undefined }
    return sendReward(reply.status(200), wire.write([{ ...result, reward: 0 }], call))
  }
}

function sendReward(reply: FastifyReply, answer: string | object): FastifyReply {
  return typeof answer === 'string' ? reply.type('application/json').send(answer) : reply.send(answer)
}

const MAX_KNOWN_TRAINERS = 10_000

/**
 * Distinguishes a misconfigured trainer from a gap in its dataset. A trainer that has never sent an item ID gets an
 * error that names the option to set. Later, a sample without one is unscored, because an error would end the run.
 */
class LabelReader {
  readonly #hint: string | undefined
  /** Callers and runs that have sent item IDs to this process. Created for the first: most wires are never used. */
  #known: LRUCache<string, true> | undefined

  /** Without a hint, a call without item IDs is never rejected. */
  constructor(hint: string | undefined) {
    this.#hint = hint
  }

  /**
   * Returns the item IDs of a call, undefined where a sample has none. Throws `invalid_request` if a new trainer sends
   * none at all.
   */
  read(labels: unknown[], caller: string, run = ''): (string | undefined)[] {
    const itemIds = labels.map((label) => (typeof label === 'string' && label !== '' ? label : undefined))
    if (this.#hint === undefined || itemIds.length === 0) return itemIds
    const trainer = `${run} ${caller}`
    if (itemIds.some((itemId) => itemId !== undefined)) {
      this.#known ??= new LRUCache({ max: MAX_KNOWN_TRAINERS })
      this.#known.set(trainer, true)
    } else if (!this.#known?.has(trainer)) throw new ServiceError('invalid_request', this.#hint)
    return itemIds
  }
}
