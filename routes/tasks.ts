/** GET /tasks, GET /tasks/{task} and its validation: the tasks of the library. */

import { TaskDetail, TaskList } from '@reasoning-gym-server/contract/task'
import { TaskValidation } from '@reasoning-gym-server/contract/validation'
import { z } from 'zod'
import type { TasksFeature } from '../src/features/tasks/index.ts'
import type { App } from '../src/http/app.ts'

export function addTaskRoutes(app: App, { details }: TasksFeature): void {
  app.get(
    '/tasks',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'listTasks',
        tags: ['tasks'],
        summary: 'List tasks',
        description:
          'Returns all tasks of the library, or those that match `category` and `q`. If the library is not available, the last known list is returned with `source: "fallback"`.',
        querystring: z.strictObject({
          category: z.string().optional().describe('Only tasks of this category.'),
          q: z.string().optional().describe('Only tasks whose name, category or description contains this text.'),
        }),
        response: { 200: TaskList },
      },
    },
    ({ query }) => details.list(query.category, query.q),
  )

  app.get(
    '/tasks/:task',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getTask',
        tags: ['tasks'],
        summary: 'Get a task',
        description:
          'Returns the config schema, the ladder, the task card (what guessing earns), the check of the answer keys, an example and statistics.',
        params: z.strictObject({ task: z.string().describe('Name of the task, such as `leg_counting`.') }),
        response: { 200: TaskDetail },
        problems: ['unknown_task'],
      },
    },
    ({ params }) => details.require(params.task),
  )

  app.get(
    '/tasks/:task/validation',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getTaskValidation',
        tags: ['tasks'],
        summary: 'Get the validation of a task',
        description:
          'Returns the truth table of the verifier (true and false positive rates and Youden’s J for each scoring), and a validation report of OpenEnv’s RFC 008: each check with its figures, or why it does not apply. `reasoning-gym-server validate` measures custom tasks.',
        params: z.strictObject({ task: z.string().describe('Name of the task, such as `leg_counting`.') }),
        querystring: z.strictObject({
          scoring: z.enum(['upstream', 'hardened']).default('hardened').describe('Scoring that the checks are about.'),
        }),
        response: { 200: TaskValidation },
        problems: ['unknown_task'],
      },
    },
    ({ params, query }) => details.requireValidation(params.task, query.scoring),
  )
}
