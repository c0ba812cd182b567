/** GET /tasks, GET /tasks/{task}: what can be asked of a model. */
import { z } from 'zod'
import { TaskDetail, TaskList } from '../src/contract/task.ts'
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
        summary: 'All tasks, or those of a category, or whose name has some text in it',
        querystring: z.strictObject({
          category: z.string().optional(),
          q: z.string().optional().describe('A part of the name'),
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
        summary: 'One task: the schema of its config, its ladder, what each rung is worth, an example, figures',
        params: z.strictObject({ task: z.string().describe('Name of a task, such as leg_counting') }),
        response: { 200: TaskDetail, ...problemResponses('unknown_task', 'redis_unavailable') },
      },
    },
    ({ params }) => details.require(params.task),
  )
}
