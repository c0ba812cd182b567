/** NeMo Gym: /nemo-gym[/{run}]/…, the routes of a resources server, and GET /global_config_dict_yaml by which Axolotl finds it. */
import { z } from 'zod'
import { isNumberArray } from '../../../codec/number-lists/number-array.ts'
import { canAccessRun } from '../../../contract/caller.ts'
import {
  NemoGymCloseRequest,
  NemoGymCloseResponse,
  NemoGymMetrics,
  NemoGymMetricsRequest,
  NemoGymSeedRequest,
  NemoGymSeedResponse,
  NemoGymVerdict,
  NemoGymVerifyRequest,
  parsePlainNemoGymVerifyRequest,
} from '../../../contract/nemo-gym.ts'
import type { App } from '../../../http/app.ts'
import { withFastParser } from '../../../http/validation.ts'
import { CORRECT_COMPLETION, EXAMPLE_ITEM_ID, EXAMPLE_QUESTION } from '../../items/example-item.ts'
import { observeDelivery } from '../delivery.ts'
import type { AdaptersFeature } from '../index.ts'
import { MissingLabels } from '../missing-labels.ts'
import { REWARD_BODY_BYTES, REWARD_PROBLEMS, sendJsonText, sendUnscoredIfTooLarge } from '../reward-routes.ts'
import { getRun, listRunPaths, type RunPath } from '../run-paths.ts'
import type { SampleResult } from '../sample-scoring.ts'
import { aggregateMetrics } from './aggregate-metrics.ts'
import { formatServerConfig } from './discovery.ts'
import { readItemId, readSample } from './read-sample.ts'
import { buildVerifyResponse } from './verify-response.ts'

/** Time to hold a call: Axolotl waits 30 s, once; verifiers 60 s; NeMo Gym forever. */
const HOLD_MS = 25_000
/** Body size above which the body parser may have converted number lists to typed arrays. */
const LARGE_BODY_BYTES = 64 * 1024

const VerifyBody = withFastParser(NemoGymVerifyRequest, parsePlainNemoGymVerifyRequest)

const EXAMPLE = {
  item_id: EXAMPLE_ITEM_ID,
  responses_create_params: { input: [{ role: 'user', content: EXAMPLE_QUESTION }] },
  response: {
    output: [{ type: 'message', content: [{ type: 'output_text', text: CORRECT_COMPLETION }] }],
    usage: { output_tokens: 42 },
  },
}

export function addNemoGymRoutes(app: App, adapters: AdaptersFeature): void {
  const hint = 'item_id: the row has none; make rows by GET /dataset.jsonl?format=nemo-gym'
  const labels = new MissingLabels(hint)
  const list = (rest: string) => listRunPaths('nemo-gym', rest)
  for (const path of list('verify')) addVerifyRoute(app, path, adapters, labels)
  for (const path of list('seed_session')) addSeedRoute(app, path)
  for (const path of list('close_session')) addCloseRoute(app, path)
  for (const path of list('aggregate_metrics')) addMetricsRoute(app, path)
  for (const path of list('reverify_mode')) addReverifyRoute(app, path)
  addDiscoveryRoute(app, adapters)
}

function addVerifyRoute(app: App, path: RunPath, { samples }: AdaptersFeature, labels: MissingLabels): void {
  app.post(
    path.url,
    {
      config: path.config,
      bodyLimit: REWARD_BODY_BYTES,
      errorHandler: sendUnscoredIfTooLarge(samples, 'nemo-gym', formatUnread),
      schema: {
        operationId: `verifyNemoGymSample${path.idSuffix}`,
        tags: ['NeMo Gym'],
        summary: `Score a completion for NeMo Gym, verifiers and Axolotl${path.summarySuffix}`,
        params: path.params,
        body: VerifyBody,
        response: { 200: NemoGymVerdict },
        problems: REWARD_PROBLEMS,
        examples: { bodies: { 'A row and a response': EXAMPLE } },
      },
    },
    async ({ body, params, headers, caller }, reply) => {
      const run = getRun(params)
      const [itemId] = labels.read([readItemId(body)], caller.id, run)
      const [result] = await samples.score({
        adapter: 'nemo-gym',
        run,
        samples: [readSample(body, itemId)],
        holdMs: HOLD_MS,
        delivery: run === undefined ? undefined : observeDelivery(reply),
      })
      if (!result) throw new Error('the scoring of one sample returned none')
      const isLarge = !(Number(headers['content-length']) <= LARGE_BODY_BYTES)
      const text = JSON.stringify(buildVerifyResponse(body, result), isLarge ? formatNumberList : undefined)
      return sendJsonText(reply, text)
    },
  )
}

/** Serializes typed arrays as the lists of numbers and nulls that they were. */
function formatNumberList(_key: string, value: unknown): unknown {
  return isNumberArray(value) ? Array.from(value, (number) => (Number.isNaN(number) ? null : number)) : value
}

/** Formats the answer to a body that was too large to read, so there is nothing to echo. */
function formatUnread(results: SampleResult[]): string {
  const echo = { responses_create_params: { input: [] }, response: null }
  return JSON.stringify(results.map((result) => buildVerifyResponse(echo, result))[0])
}

function addSeedRoute(app: App, { url, params, config, idSuffix, summarySuffix }: RunPath): void {
  app.post(
    url,
    {
      config,
      bodyLimit: REWARD_BODY_BYTES,
      schema: {
        operationId: `seedNemoGymSession${idSuffix}`,
        tags: ['NeMo Gym'],
        summary: `Start a session for NeMo Gym${summarySuffix}`,
        params,
        body: NemoGymSeedRequest.default({}),
        response: { 200: NemoGymSeedResponse },
        examples: { bodies: { 'A typed session': { resources_session_id: 'session-1' } } },
      },
    },
    async ({ body: { resources_session_id: id } }) =>
      id === undefined ? {} : { resources_session_id: id, resources_tools: null, sandbox_access: null },
  )
}

function addCloseRoute(app: App, { url, params, config, idSuffix, summarySuffix }: RunPath): void {
  app.post(
    url,
    {
      config,
      schema: {
        operationId: `closeNemoGymSession${idSuffix}`,
        tags: ['NeMo Gym'],
        summary: `Close a session for NeMo Gym${summarySuffix}`,
        params,
        body: NemoGymCloseRequest.default({}),
        response: { 200: NemoGymCloseResponse },
        examples: { bodies: { 'A typed session': { resources_session_id: 'session-1' } } },
      },
    },
    async ({ body: { resources_session_id: id } }) => (id === undefined ? {} : { resources_session_id: id }),
  )
}

function addMetricsRoute(app: App, { url, params, config, idSuffix, summarySuffix }: RunPath): void {
  app.post(
    url,
    {
      config,
      bodyLimit: REWARD_BODY_BYTES,
      schema: {
        operationId: `aggregateNemoGymMetrics${idSuffix}`,
        tags: ['NeMo Gym'],
        summary: `Aggregate the rewards that NeMo Gym has collected${summarySuffix}`,
        params,
        body: NemoGymMetricsRequest,
        response: { 200: NemoGymMetrics },
        examples: {
          bodies: {
            'Two rewards': {
              verify_responses: [
                { reward: 1, _ng_task_index: 0 },
                { reward: 0, _ng_task_index: 0 },
              ],
            },
          },
        },
      },
    },
    async ({ body: { verify_responses: answers } }) => aggregateMetrics(answers),
  )
}

function addReverifyRoute(app: App, { url, params, config, idSuffix, summarySuffix }: RunPath): void {
  const mode = z
    .literal('stateless')
    .meta({ id: 'NemoGymReverifyMode', description: 'The same sample may be verified again at any time.' })
  app.get(
    url,
    {
      config,
      schema: {
        operationId: `getNemoGymReverifyMode${idSuffix}`,
        tags: ['NeMo Gym'],
        summary: `Check whether NeMo Gym may verify a sample again${summarySuffix}`,
        params,
        response: { 200: mode },
      },
    },
    async (_request, reply) => sendJsonText(reply, '"stateless"'),
  )
}

function addDiscoveryRoute(app: App, adapters: AdaptersFeature): void {
  app.get(
    '/global_config_dict_yaml',
    {
      config: { access: 'scorers' },
      schema: {
        operationId: 'getNemoGymServers',
        tags: ['NeMo Gym'],
        summary: 'List resources servers for NeMo Gym',
        description:
          'Responds like the head server of NeMo Gym: one resources server without a run, and one for each run.',
        response: {
          200: z
            .string()
            .describe('YAML, as a JSON string: `reasoning_gym_server`, and `reasoning_gym_server/RUN` for each run.'),
        },
      },
    },
    async ({ host, caller }, reply) => {
      const runs = await adapters.listRunNames((run) => canAccessRun(caller, run))
      return sendJsonText(reply, JSON.stringify(formatServerConfig(host, runs)))
    },
  )
}
