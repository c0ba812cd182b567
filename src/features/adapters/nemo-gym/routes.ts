/** NeMo Gym: the routes of a resources server beside `verify`. */
import {
  NemoGymCloseRequest,
  NemoGymCloseResponse,
  NemoGymMetrics,
  NemoGymMetricsRequest,
  NemoGymSeedRequest,
  NemoGymSeedResponse,
} from '@reasoning-gym-server/contract/reward-wires'
import { z } from 'zod'
import { mean, populationStd } from '../../../grading/statistics.ts'
import type { App } from '../../../http/app.ts'
import { describeOperation, getRun, listMounts, type Mount } from '../mounts.ts'
import { REWARD_BODY_BYTES } from '../reward-route.ts'
import type { SampleScoring } from '../sample-scoring.ts'
import { sendJsonText } from '../trainer-calls.ts'

/** Adds all routes but `verify`, which is a reward URL (wire.ts). */
export function addNemoGymRoutes(app: App, { samples }: { samples: SampleScoring }): void {
  for (const mount of listMounts('nemo-gym')) {
    addSessionRoutes(app, samples, mount)
    addMetricsRoutes(app, mount)
  }
}

/** Sessions hold nothing: a sample names its item. A session of an unknown run is an error before anything is generated. */
function addSessionRoutes(app: App, samples: SampleScoring, mount: Mount): void {
  app.post(
    `${mount.base}/seed_session`,
    {
      config: mount.config,
      bodyLimit: REWARD_BODY_BYTES,
      schema: {
        ...describeOperation(mount, 'seedNemoGymSession', 'Start a session for NeMo Gym'),
        ...(mount.idSuffix === 'OfRun' && { problems: ['unknown_run'] as const }),
        body: NemoGymSeedRequest.default({}),
        response: { 200: NemoGymSeedResponse },
        examples: { bodies: { 'A typed session': { resources_session_id: 'session-1' } } },
      },
    },
    async ({ body: { resources_session_id: id }, params, caller }) => {
      const run = getRun(params)
      if (run !== undefined) await samples.requireRun(run, caller)
      return id === undefined ? {} : { resources_session_id: id, resources_tools: null, sandbox_access: null }
    },
  )

  app.post(
    `${mount.base}/close_session`,
    {
      config: mount.config,
      schema: {
        ...describeOperation(mount, 'closeNemoGymSession', 'Close a session for NeMo Gym'),
        body: NemoGymCloseRequest.default({}),
        response: { 200: NemoGymCloseResponse },
        examples: { bodies: { 'A typed session': { resources_session_id: 'session-1' } } },
      },
    },
    async ({ body: { resources_session_id: id } }) => (id === undefined ? {} : { resources_session_id: id }),
  )
}

const ReverifyMode = z
  .literal('stateless')
  .meta({ id: 'NemoGymReverifyMode', description: 'The same sample may be verified again at any time.' })

function addMetricsRoutes(app: App, mount: Mount): void {
  app.post(
    `${mount.base}/aggregate_metrics`,
    {
      config: mount.config,
      bodyLimit: REWARD_BODY_BYTES,
      schema: {
        ...describeOperation(mount, 'aggregateNemoGymMetrics', 'Aggregate the rewards that NeMo Gym has collected'),
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

  app.get(
    `${mount.base}/reverify_mode`,
    {
      config: mount.config,
      schema: {
        ...describeOperation(mount, 'getNemoGymReverifyMode', 'Check whether NeMo Gym may verify a sample again'),
        response: { 200: ReverifyMode },
      },
    },
    async (_request, reply) => sendJsonText(reply, '"stateless"'),
  )
}

type VerifyAnswer = Record<string, unknown>

const TASK_INDEX = '_ng_task_index'
const MEASURES = ['reward', 'score'] as const

/** Computes means under NeMo Gym's names. Masked samples are not measurements and do not count. */
function aggregateMetrics(answers: VerifyAnswer[]): NemoGymMetrics {
  const measured = answers.filter(({ mask_sample: masked }) => masked !== true)
  const overall = describeValues(measured)
  return {
    agent_metrics: { ...overall, ...describeTasks(measured), ...describeCoverage(answers, measured) },
    key_metrics: overall['mean/reward'] === undefined ? {} : { 'mean/reward': overall['mean/reward'] },
    group_level_metrics: [...Map.groupBy(measured, (answer) => answer[TASK_INDEX])].map(([index, group]) => ({
      ...(isMeasure(index) && { [TASK_INDEX]: index }),
      ...(typeof group[0]?.task_name === 'string' && { task_name: group[0].task_name }),
      ...describeValues(group),
    })),
  }
}

function describeValues(answers: VerifyAnswer[]): Record<string, number> {
  const metrics: Record<string, number> = {}
  for (const name of MEASURES) {
    const values = answers.map((answer) => answer[name]).filter(isMeasure)
    if (values.length === 0) continue
    metrics[`mean/${name}`] = mean(values)
    metrics[`std/${name}`] = populationStd(values)
    metrics[`min/${name}`] = values.reduce((a, b) => Math.min(a, b))
    metrics[`max/${name}`] = values.reduce((a, b) => Math.max(a, b))
  }
  return metrics
}

function describeTasks(answers: VerifyAnswer[]): Record<string, number> {
  const byTask = Map.groupBy(answers, ({ task_name: task }) => task)
  const means = [...byTask].flatMap(([task, group]) => {
    const { 'mean/reward': reward } = describeValues(group)
    return typeof task === 'string' && reward !== undefined ? [[`mean/reward/${task}`, reward] as const] : []
  })
  return Object.fromEntries(means)
}

function describeCoverage(answers: VerifyAnswer[], measured: VerifyAnswer[]): Record<string, number> {
  if (measured.length === answers.length) return {}
  return {
    'coverage/measured_rollouts': measured.length,
    'coverage/masked_rollouts': answers.length - measured.length,
  }
}

/** JSON such as `1e999` parses as Infinity, which has no mean and no JSON. */
function isMeasure(value: unknown): value is number {
  return Number.isFinite(value)
}
