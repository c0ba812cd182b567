/** GET /tasks, GET /tasks/{task}: what can be asked of a model. */
import { z } from 'zod'
import { TaskDetail, TaskList } from '../src/contract/task.ts'
import type { App } from '../src/http/app.ts'
import { problemResponses } from '../src/http/errors/problem-responses.ts'
import type { Services } from './context.ts'

export function addTaskRoutes(app: App, { engine, tasks, ladders, items, taskStatistics: figures }: Services): void {
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
    async ({ query }) => {
      await tasks.loadRegistry()
      const list = tasks.list(query.category, query.q)
      return {
        engine: { library: 'reasoning-gym', version: engine.version },
        source: tasks.source,
        total: list.length,
        tasks: list,
      }
    },
  )

  app.get(
    '/tasks/:task',
    {
      schema: {
        operationId: 'getTask',
        tags: ['tasks'],
        summary: 'One task: the schema of its config, its ladder, an example, figures',
        params: z.strictObject({ task: z.string().describe('Name of a task, such as leg_counting') }),
        response: { 200: TaskDetail, ...problemResponses('unknown_task', 'redis_unavailable') },
      },
    },
    async ({ params }) => {
      const definition = await tasks.getDefinition(params.task)
      const summary = tasks.require(params.task)
      const statistics = await figures.read(summary.name)
      return {
        ...summary,
        config_schema: definition?.config_schema ?? null,
        ladder: ladders.rungs(summary.name),
        example: definition ? await items.getExample(summary.name) : null,
        statistics,
      }
    },
  )
}
