/** The routes that all kinds of generation jobs have: evals and collections differ in names, schemas and texts. */
import { queryBoolean, textResponse } from '@reasoning-gym-server/contract/common'
import type { ErrorCode } from '@reasoning-gym-server/contract/errors'
import { ModelApiKey } from '@reasoning-gym-server/contract/generation-job'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import { z } from 'zod'
import type { GenerationJobs } from '../src/features/evals/generation-jobs.ts'
import type { FilterOf, InputOf, ViewOf } from '../src/features/evals/job-kinds.ts'
import type { GenerationJobKind } from '../src/features/evals/records.ts'
import type { App } from '../src/http/app.ts'
import type { Access } from '../src/http/auth/access-rule.ts'
import { IdempotencyHeaders, ifMatchHeader } from '../src/http/request-headers.ts'
import { createShutdownSignal, sendEventStream } from '../src/http/streamed-responses.ts'

/** The body that resumes a job. */
const ModelKeyBody = z
  .strictObject({
    api_key: ModelApiKey.optional().describe(
      'API key of the model. The server deletes the key when the eval or collection ends, so send it again.',
    ),
  })
  .meta({ id: 'ModelKey', description: 'The API key of a model.' })
  .default({})

const CreateHeaders = IdempotencyHeaders.extend(ifMatchHeader)

const ReportQuery = z.strictObject({
  format: z.enum(['markdown', 'json']).default('markdown').describe('Format of the report.'),
})

const CancelQuery = z.strictObject({
  ended: queryBoolean()
    .default(false)
    .describe(
      'If true, deletes an ended job with everything that is stored of it, and returns it as it was. An active one is rejected with 400 `invalid_request`.',
    ),
})

const LastEventIdHeaders = z.looseObject({
  'last-event-id': z.string().max(64).optional().describe('ID of the last event received, to resume the stream.'),
})

interface Operation {
  description: string
  /** Error codes that the access, the headers and the parameters of the route do not imply. */
  problems?: readonly ErrorCode[]
}

/** What distinguishes the routes of one kind. */
interface GenerationJobRoutes<Kind extends GenerationJobKind> {
  /** Where jobs are listed and created. One job is at `PATH/:id`. */
  path: string
  /** Parameters of `path`, for jobs that are resources of a run. */
  pathParams?: z.ZodType<RunPath>
  params: z.ZodType<JobPath>
  tag: string
  /** Name of the kind in operation IDs: `Eval` makes `startEval` and `listEvals`. */
  name: string
  /** Name of the kind in summaries, with its article. */
  noun: string
  unknownCode: ErrorCode
  /** Who may start, cancel, delete and resume jobs. Readers may see them. */
  writers: Access
  input: z.ZodType<InputOf<Kind>>
  view: z.ZodType<ViewOf<Kind>>
  start: Operation
  list: Operation & {
    summary: string
    query?: z.ZodType<FilterOf<Kind>>
    headers?: z.ZodType<{ 'if-match'?: RunCondition | undefined }>
    response: z.ZodType
    /** Field of the response that has the jobs. */
    field: string
  }
  get?: { description?: string }
  cancel: { description: string }
  resume: Operation
  report?: { render(view: ViewOf<Kind>): string }
}

interface RunPath {
  run?: string | undefined
}

interface JobPath extends RunPath {
  id: string
}

/** Adds the routes that create, list, get, cancel, delete and resume jobs of a kind, stream their events and show a report. */
export function addGenerationJobRoutes<Kind extends GenerationJobKind>(
  app: App,
  jobs: GenerationJobs<Kind>,
  kind: GenerationJobRoutes<Kind>,
): void {
  const { path, name, noun, params, start, list, cancel, resume, report } = kind
  const tags = [kind.tag]
  const ofPath = kind.pathParams && { params: kind.pathParams }
  const problems = [kind.unknownCode]
  const readers = { access: 'readers' } as const
  const writers = { access: kind.writers }
  /** Jobs that are no resources of a run span all runs. */
  const acrossRuns = kind.pathParams ? {} : ({ requiresRunForBoundKey: true } as const)
  // Fastify cannot infer types from generic schemas, so the handlers assert what these schemas have validated
  const input: z.ZodType = kind.input
  const view: z.ZodType = kind.view

  app.post(
    path,
    {
      config: { ...writers, ...acrossRuns },
      schema: {
        operationId: `start${name}`,
        tags,
        summary: `Start ${noun}`,
        description: start.description,
        ...ofPath,
        headers: CreateHeaders,
        body: input,
        response: { 202: view },
        problems: start.problems ?? [],
      },
    },
    async ({ params, body, headers, caller }, reply) => {
      const { run } = params as RunPath // validated by pathParams; empty without them
      const created = await jobs.create(body as InputOf<Kind>, {
        caller,
        run,
        idempotencyKey: headers['idempotency-key'],
        condition: headers['if-match'],
      })
      const location = `${path.replace(':run', run ?? '')}/${created.id}`
      return reply.status(202).header('location', location).send(created)
    },
  )

  app.get(
    path,
    {
      config: { ...readers, ...acrossRuns },
      schema: {
        operationId: `list${name}s`,
        tags,
        summary: list.summary,
        description: list.description,
        ...ofPath,
        ...(list.query && { querystring: list.query as z.ZodType }),
        ...(list.headers && { headers: list.headers }),
        response: { 200: list.response },
      },
    },
    async ({ params, query, headers }) => {
      const filter = { ...(query as object), ...(params as RunPath) } as FilterOf<Kind> // validated by list.query
      const { 'if-match': condition } = headers as { 'if-match'?: RunCondition } // validated by list.headers
      return { [list.field]: await jobs.list(filter, list.headers && condition) }
    },
  )

  app.get(
    `${path}/:id`,
    {
      config: readers,
      schema: {
        operationId: `get${name}`,
        tags,
        summary: `Get ${noun}`,
        ...kind.get,
        params,
        response: { 200: view },
        problems,
      },
    },
    ({ params, caller }) => jobs.requireView({ ...params, caller }),
  )

  app.delete(
    `${path}/:id`,
    {
      config: writers,
      schema: {
        operationId: `cancel${name}`,
        tags,
        summary: `Cancel or delete ${noun}`,
        ...cancel,
        description: `${cancel.description} With \`ended=true\`, the call deletes one that has ended instead.`,
        params,
        querystring: CancelQuery,
        response: { 200: view },
        problems,
      },
    },
    ({ params, query, caller }) => {
      const address = { ...params, caller }
      return query.ended ? jobs.delete(address) : jobs.cancel(address)
    },
  )

  app.post(
    `${path}/:id/resume`,
    {
      config: writers,
      schema: {
        operationId: `resume${name}`,
        tags,
        summary: `Resume ${noun}`,
        description: resume.description,
        params,
        body: ModelKeyBody,
        response: { 202: view },
        problems: [kind.unknownCode, 'too_many_active'],
      },
    },
    async ({ params, body, caller }, reply) => {
      return reply.status(202).send(await jobs.resume({ ...params, caller }, body.api_key))
    },
  )

  const closing = createShutdownSignal(app)
  app.get(
    `${path}/:id/events`,
    {
      config: readers,
      schema: {
        operationId: `stream${name}Events`,
        tags,
        summary: `Stream the progress of ${noun}`,
        description: 'Sends server-sent events: progress, then the result. `Last-Event-ID` resumes the stream.',
        params,
        headers: LastEventIdHeaders,
        response: { 200: textResponse('text/event-stream', 'Server-sent events.') },
        problems,
      },
    },
    async ({ params, headers, caller }, reply) => {
      const events = await jobs.streamEvents({ ...params, caller }, headers['last-event-id'] ?? '', closing)
      return sendEventStream(events, reply)
    },
  )

  if (!report) return
  app.get(
    `${path}/:id/report`,
    {
      config: readers,
      schema: {
        operationId: `get${name}Report`,
        tags,
        summary: `Get the report of ${noun}`,
        description: 'Returns the result as Markdown or as JSON.',
        params,
        querystring: ReportQuery,
        response: {
          200: {
            description: 'The report.',
            content: { 'text/markdown': { schema: z.string() }, 'application/json': { schema: view } },
          },
        },
        problems,
      },
    },
    async ({ params, query, caller }, reply) => {
      const shown = await jobs.requireView({ ...params, caller })
      if (query.format === 'json') return reply.send(shown)
      return reply.header('content-type', 'text/markdown; charset=utf-8').send(report.render(shown))
    },
  )
}
