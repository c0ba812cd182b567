/** /runs/{run}/history, mixes, marks and curriculum-reset: how the curriculum, the mix and the settings of a run changed. */

import { CurriculumPoint, Run } from '@reasoning-gym-server/contract/run'
import { RunMark, RunMix } from '@reasoning-gym-server/contract/run-control'
import { z } from 'zod'
import type { RunsFeature } from '../src/features/runs/index.ts'
import type { App } from '../src/http/app.ts'
import { formatEntityTag } from '../src/http/request-headers.ts'
import { sendJsonPieces } from '../src/http/streamed-responses.ts'
import { runRouteSchema } from './runs.ts'

async function* formatPoints(pages: AsyncIterable<CurriculumPoint[]>): AsyncGenerator<string> {
  let separator = ''
  yield '{"points":['
  for await (const points of pages) {
    if (points.length === 0) continue
    yield separator + JSON.stringify(points).slice(1, -1)
    separator = ','
  }
  yield ']}'
}

export function addRunHistoryRoutes(app: App, { runs, views }: RunsFeature): void {
  app.get(
    '/runs/:run/history',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'getRunHistory',
        ...runRouteSchema,
        summary: 'List curriculum moves',
        description: 'Returns the groups that moved the curriculum of a run, oldest first.',
        querystring: z.strictObject({ task: z.string().optional().describe('Only groups of this task.') }),
        response: {
          200: z
            .strictObject({
              points: z.array(CurriculumPoint).describe('Groups that moved the curriculum, oldest first.'),
            })
            .meta({ id: 'RunHistory', description: 'Groups that moved the curriculum.' }),
        },
      },
    },
    async ({ params, query, headers }, reply) => {
      const pages = await views.openCurriculumPoints(params.run, query.task, headers['if-match'])
      return sendJsonPieces(formatPoints(pages), reply)
    },
  )

  app.get(
    '/runs/:run/mixes',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'listRunMixes',
        ...runRouteSchema,
        summary: 'List the mixes of a run',
        description:
          'Returns the last mixes of tasks that the run has used since its item sequence began, oldest first. The server keeps 1,000 of them.',
        querystring: z.strictObject({
          limit: z.coerce
            .number()
            .int()
            .min(1)
            .max(1000)
            .default(1000)
            .describe('Maximum number of mixes, the last ones.'),
        }),
        response: {
          200: z
            .strictObject({ mixes: z.array(RunMix).describe('Mixes of tasks, oldest first.') })
            .meta({ id: 'RunMixes', description: 'Mixes of tasks that a run has used.' }),
        },
      },
    },
    ({ params, query, headers }) => views.listMixes(params.run, query.limit, headers['if-match']),
  )

  app.get(
    '/runs/:run/marks',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'listRunMarks',
        ...runRouteSchema,
        summary: 'List what happened to a run',
        description:
          'Returns the events to annotate on charts of a run, oldest first: changes of settings, curriculum resets, rewinds, and the steps at which warnings were noticed, up to half a minute after they arose. The server keeps the last 500, and so do checkpoints and forks, up to their step.',
        response: {
          200: z
            .strictObject({ marks: z.array(RunMark).describe('Marks, oldest first.') })
            .meta({ id: 'RunMarks', description: 'What happened to a run.' }),
        },
      },
    },
    ({ params, headers }) => views.listMarks(params.run, headers['if-match']),
  )

  app.post(
    '/runs/:run/curriculum-reset',
    {
      config: { access: 'trainers' },
      schema: {
        operationId: 'resetCurriculum',
        ...runRouteSchema,
        summary: 'Start the curriculum again',
        description:
          'Forgets the difficulty of all tasks and what the sampling knows about them, as when the weights of the model were replaced. The item sequence goes on, and items that were not handed out are made again. `curriculum_start` is not read again.',
        response: {
          200: Run,
        },
        problems: ['run_changed'],
      },
    },
    async ({ params, headers, caller }, reply) => {
      const run = await views.buildFor(caller, await runs.resetCurriculum(params.run, headers['if-match']))
      return reply.header('etag', formatEntityTag(run.incarnation)).send(run)
    },
  )
}
