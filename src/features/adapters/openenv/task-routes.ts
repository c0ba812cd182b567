/**
 * OpenEnv's task API, which lists what a reset may name by `split` and `index`. Its environments, splits and tasks are those of ORS,
 * whose paths and bodies OpenEnv has taken over.
 */
import { type ErrorCode, ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../../http/app.ts'
import type { AdaptersFeature } from '../index.ts'
import { describeOperation, getRun, type Mount } from '../mounts.ts'
import { listSplits, type OrsEnvironment } from '../ors/environments.ts'
import { SplitBody, TaskBody, TaskRangeBody } from '../ors/wire.ts'

/** OpenEnv allows a preview of a large split. `task_range` has the rest. */
const MAX_LISTED_TASKS = 1000

const Environment = z.string().max(200).describe('Name of the environment: that of a run, or `reasoning-gym`.')
const Task = z
  .union([
    z.strictObject({ item_id: z.string().describe('ID of the item.') }),
    z.strictObject({ position: z.int().min(0).describe('Position in the item sequence of the run.') }),
  ])
  .meta({ id: 'OpenenvTask', description: 'An item, as a reset takes it.' })
const TaskList = z
  .strictObject({ tasks: z.array(Task).describe('Tasks in order.'), env_name: Environment })
  .meta({ id: 'OpenenvTasks', description: 'Tasks of a split.' })

const Split = z
  .strictObject({
    name: z.string().describe('Name of the split.'),
    type: z.enum(['train', 'test']).describe('Its use.'),
  })
  .meta({ id: 'OpenenvSplit', description: 'A split of an environment.' })
const TaskCount = z
  .strictObject({ num_tasks: z.int().describe('Number of tasks in the split.') })
  .meta({ id: 'OpenenvTaskCount', description: 'The size of a split.' })
const OneTask = z
  .strictObject({ task: Task, env_name: Environment })
  .meta({ id: 'OpenenvOneTask', description: 'One task of a split.' })

const PROBLEMS: ErrorCode[] = ['not_found', 'engine_unavailable']

export function addTaskRoutes(app: App, { ors: { environments } }: AdaptersFeature, mount: Mount): void {
  const { base } = mount
  const params = z.strictObject({ ...mount.params.shape, env: Environment })
  const describe = (id: string, summary: string, body?: object) => ({
    ...describeOperation(mount, id, `OpenEnv: ${summary}`),
    params,
    problems: PROBLEMS,
    examples: {
      path: { env: 'demo' },
      ...(body && { bodies: { 'The split for training': { split: 'train', ...body } } }),
    },
  })
  const config = { access: 'readers' } as const

  /** Below the path of a run, there is only the environment of that run. */
  const requireEnvironment = async ({ params: given, caller }: FastifyRequest): Promise<OrsEnvironment> => {
    const { env, run } = given as z.infer<typeof params> & { run?: string } // as the schema of the route has it
    if (run !== undefined && env.toLowerCase() !== run.toLowerCase())
      throw new ServiceError('not_found', `There is no environment ${JSON.stringify(env)} here. Use ${run}.`)
    return environments.require(env, undefined, caller)
  }

  app.get(
    `${base}/list_environments`,
    {
      config,
      schema: {
        ...describeOperation(mount, 'listOpenenvEnvironments', 'OpenEnv: list the environments'),
        response: { 200: z.array(Environment).describe('Names of environments.') },
      },
    },
    async ({ params: given, caller }) => {
      const run = getRun(given)
      return run === undefined ? environments.list(caller) : [run]
    },
  )
  app.get(
    `${base}/:env/splits`,
    {
      config,
      schema: {
        ...describe('listOpenenvSplits', 'list the splits'),
        response: { 200: z.array(Split).describe('Splits of the environment.') },
      },
    },
    async (request) => {
      await requireEnvironment(request)
      return listSplits()
    },
  )
  app.post(
    `${base}/:env/num_tasks`,
    {
      config,
      schema: {
        ...describe('countOpenenvTasks', 'count the tasks of a split', {}),
        body: SplitBody,
        response: { 200: TaskCount },
      },
    },
    async (request) => ({
      num_tasks: environments.countTasks(await requireEnvironment(request), request.body.split),
    }),
  )
  app.post(
    `${base}/:env/tasks`,
    {
      config,
      schema: {
        ...describe('listOpenenvTasks', `list the first ${MAX_LISTED_TASKS.toLocaleString('en')} tasks of a split`, {}),
        body: SplitBody,
        response: { 200: TaskList },
      },
    },
    async (request) => {
      const environment = await requireEnvironment(request)
      const tasks = await environments.listTasks(environment, request.body.split, 0, MAX_LISTED_TASKS)
      return { tasks, env_name: environment.name }
    },
  )
  app.post(
    `${base}/:env/task_range`,
    {
      config,
      schema: {
        ...describe('listOpenenvTaskRange', 'list a range of the tasks of a split', { start: 0, stop: 2 }),
        body: TaskRangeBody,
        response: { 200: TaskList },
      },
    },
    async (request) => {
      const { split, start, stop } = request.body
      const environment = await requireEnvironment(request)
      const tasks = await environments.listTasks(environment, split, start ?? 0, stop ?? undefined)
      return { tasks, env_name: environment.name }
    },
  )
  app.post(
    `${base}/:env/task`,
    {
      config,
      schema: {
        ...describe('getOpenenvTask', 'get one task of a split', { index: 0 }),
        body: TaskBody,
        response: { 200: OneTask },
      },
    },
    async (request) => {
      const environment = await requireEnvironment(request)
      const { split, index } = request.body
      return { task: await environments.requireTask(environment, split, index), env_name: environment.name }
    },
  )
}
