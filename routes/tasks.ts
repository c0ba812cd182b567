/** GET /tasks, GET /tasks/{task}: the tasks of the library. */

import { TaskDetail, TaskList } from '@reasoning-gym-server/contract/task'
import { z } from 'zod'
import type { TasksFeature } from '../src/features/tasks/index.ts'
import type { App } from '../src/http/app.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'

export function addTaskRoutes(app: App, { details }: TasksFeature): void {
  app.get(
    '/tasks',
    {
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
        response: { 200: TaskList, ...problemResponses('invalid_request') },
      },
    },
    ({ query }) => details.list(query.category, query.q),
  )

  app.get(
    '/tasks/:task',
    {
      schema: {
        operationId: 'getTask',
        tags: ['tasks'],
        summary: 'Get a task',
        description:
          'Returns the config schema, the difficulty ladder, the task card (what guessing earns on each rung), an example item and statistics.',
        params: z.strictObject({ task: z.string().describe('Name of the task, such as `leg_counting`.') }),
        response: { 200: TaskDetail, ...problemResponses('unknown_task', 'redis_unavailable') },
      },
    },
    ({ params }) => details.require(params.task),
  )
}
