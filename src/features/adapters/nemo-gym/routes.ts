/** NeMo Gym: the routes of a resources server beside `verify`, and GET /global_config_dict_yaml by which Axolotl finds it. */
import { canAccessRun } from '@reasoning-gym-server/contract/caller'
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
import type { AdaptersFeature } from '../index.ts'
import { describeOperation, listMounts, type Mount } from '../mounts.ts'
import { REWARD_BODY_BYTES } from '../reward-route.ts'
import { sendJsonText } from '../trainer-calls.ts'

const SERVER_NAME = 'reasoning_gym_server'

/** Adds all routes but `verify`, which is a reward URL (wire.ts). */
export function addNemoGymRoutes(app: App, adapters: AdaptersFeature): void {
  for (const mount of listMounts('nemo-gym')) {
    addSessionRoutes(app, mount)
    addMetricsRoutes(app, mount)
  }
  addDiscoveryRoute(app, adapters)
}

/** Sessions hold nothing: a sample names its item. */
function addSessionRoutes(app: App, mount: Mount): void {
  app.post(
    `${mount.base}/seed_session`,
    {
      config: mount.config,
      bodyLimit: REWARD_BODY_BYTES,
      schema: {
        ...describeOperation(mount, 'seedNemoGymSession', 'Start a session for NeMo Gym'),
        body: NemoGymSeedRequest.default({}),
        response: { 200: NemoGymSeedResponse },
        examples: { bodies: { 'A typed session': { resources_session_id: 'session-1' } } },
      },
    },
    async ({ body: { resources_session_id: id } }) =>
      id === undefined ? {} : { resources_session_id: id, resources_tools: null, sandbox_access: null },
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

function addDiscoveryRoute(app: App, adapters: AdaptersFeature): void {
  app.get(
    '/global_config_dict_yaml',
    {
      config: { access: 'scorers' },
      schema: {
        operationId: 'getNemoGymServers',
        tags: ['nemo-gym'],
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

/**
 * Formats the configuration of Gym's head server, where Axolotl finds the resources servers: this server, and each run
 * of it. `host` is as the client wrote it, `HOST:PORT`. Clients build `http://{host}:{port}/verify`, so the port carries
 * the path.
 */
export function formatServerConfig(host: string, runs: string[]): string {
  const [, name = host, port = '80'] = /^(.*?)(?::(\d+))?$/.exec(host) ?? []
  const servers = [
    [SERVER_NAME, 'nemo-gym'],
    ...runs.map((run) => [`${SERVER_NAME}/${run}`, `nemo-gym/${run}`] as const),
  ]
  return servers
    .map(([server, path]) =>
      [
        `${server}:`,
        `  resources_servers:`,
        `    ${server}:`,
        `      entrypoint: app.py`,
        `      host: ${toYaml(name)}`,
        `      port: ${toYaml(`${port}/${path}`)}`,
        '',
      ].join('\n'),
    )
    .join('')
}

/** A JSON string is a YAML string. The host is whatever the client sent. */
function toYaml(text: string): string {
  return JSON.stringify(text)
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
