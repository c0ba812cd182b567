/** NeMo Gym: /nemo-gym[/{run}]/…, the routes of a resources server, and GET /global_config_dict_yaml by which Axolotl finds it. */

import { isNumberArray } from '@reasoning-gym-server/codec/number-lists/number-array'
import { canAccessRun } from '@reasoning-gym-server/contract/caller'
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
} from '@reasoning-gym-server/contract/nemo-gym'
import { z } from 'zod'
import type { App } from '../../../http/app.ts'
import { problemResponses } from '../../../http/errors/problem-responses.ts'
import { withFastParser } from '../../../http/validation.ts'
import { observeDelivery } from '../delivery.ts'
import type { AdaptersFeature } from '../index.ts'
import { MissingLabels } from '../missing-labels.ts'
import { REWARD_BODY_BYTES, rewardProblems, sendJsonText, sendUnscoredIfTooLarge } from '../reward-routes.ts'
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
      bodyLimit: REWARD_BODY_BYTES,
      errorHandler: sendUnscoredIfTooLarge(samples, 'nemo-gym', formatUnread),
      schema: {
        operationId: `verifyNemoGymSample${path.idSuffix}`,
        tags: ['adapters'],
        summary: `Score a completion for NeMo Gym, verifiers and Axolotl${path.summarySuffix}`,
        params: path.params,
        body: VerifyBody,
        response: { 200: NemoGymVerdict, ...rewardProblems(path.idSuffix) },
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

function addSeedRoute(app: App, { url, params, idSuffix, summarySuffix }: RunPath): void {
  app.post(
    url,
    {
      bodyLimit: REWARD_BODY_BYTES,
      schema: {
        operationId: `seedNemoGymSession${idSuffix}`,
        tags: ['adapters'],
        summary: `Start a session for NeMo Gym${summarySuffix}`,
        params,
        body: NemoGymSeedRequest.default({}),
        response: { 200: NemoGymSeedResponse, ...problemResponses('invalid_request', 'invalid_json') },
      },
    },
    async ({ body: { resources_session_id: id } }) =>
      id === undefined ? {} : { resources_session_id: id, resources_tools: null, sandbox_access: null },
  )
}

function addCloseRoute(app: App, { url, params, idSuffix, summarySuffix }: RunPath): void {
  app.post(
    url,
    {
      schema: {
        operationId: `closeNemoGymSession${idSuffix}`,
        tags: ['adapters'],
        summary: `Close a session for NeMo Gym${summarySuffix}`,
        params,
        body: NemoGymCloseRequest.default({}),
        response: { 200: NemoGymCloseResponse, ...problemResponses('invalid_request', 'invalid_json') },
      },
    },
    async ({ body: { resources_session_id: id } }) => (id === undefined ? {} : { resources_session_id: id }),
  )
}

function addMetricsRoute(app: App, { url, params, idSuffix, summarySuffix }: RunPath): void {
  app.post(
    url,
    {
      bodyLimit: REWARD_BODY_BYTES,
      schema: {
        operationId: `aggregateNemoGymMetrics${idSuffix}`,
        tags: ['adapters'],
        summary: `Aggregate the rewards that NeMo Gym has collected${summarySuffix}`,
        params,
        body: NemoGymMetricsRequest,
        response: { 200: NemoGymMetrics, ...problemResponses('invalid_request', 'invalid_json', 'body_too_large') },
      },
    },
    async ({ body: { verify_responses: answers } }) => aggregateMetrics(answers),
  )
}

function addReverifyRoute(app: App, { url, params, idSuffix, summarySuffix }: RunPath): void {
  const mode = z
    .literal('stateless')
    .meta({ id: 'NemoGymReverifyMode', description: 'The same sample may be verified again at any time.' })
  app.get(
    url,
    {
      schema: {
        operationId: `getNemoGymReverifyMode${idSuffix}`,
        tags: ['adapters'],
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
      schema: {
        operationId: 'getNemoGymServers',
        tags: ['adapters'],
        summary: 'List resources servers for NeMo Gym',
        description:
          'Responds like the head server of NeMo Gym: one resources server without a run, and one for each run.',
        response: {
          200: z
            .string()
            .describe('YAML, as a JSON string: `reasoning_gym_server`, and `reasoning_gym_server/RUN` for each run.'),
          ...problemResponses('redis_unavailable'),
        },
      },
    },
    async ({ host, caller }, reply) => {
      const runs = await adapters.listRunNames((run) => canAccessRun(caller, run))
      return sendJsonText(reply, JSON.stringify(formatServerConfig(host, runs)))
    },
  )
}
