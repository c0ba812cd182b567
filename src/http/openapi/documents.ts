/** The two API documents: our own API, and the wire formats of trainers, which their projects define. */
import { FOREIGN_WIRES } from '@reasoning-gym-server/contract/adapter'
import { Problem } from '@reasoning-gym-server/contract/errors'
import { VERSION } from '../../platform/installation.ts'
import {
  buildErrorResponses,
  buildOperation,
  type DocumentedRoute,
  type Operation,
  type Parameter,
} from './operations.ts'
import { SchemaComponents } from './schemas.ts'

interface DocumentKind {
  title: string
  description: string
  tags: { name: string; description: string }[]
}

const API: DocumentKind = {
  title: 'reasoning-gym-server',
  description: `Verifiable reasoning tasks for training and evaluating language models.
The examples, sent from top to bottom, are a complete session. If the server has API keys, enter one under *Authorize*.
Each call names the roles of keys that may make it; keys with the role \`admin\` may make every call.
Every error is a problem document (RFC 9457) with a stable \`code\`; retry after the seconds that \`Retry-After\` names.
What trainers call, in wire formats of their own, has a document of its own: \`/openapi/trainers.json\`.`,
  tags: [
    { name: 'tasks', description: 'Tasks of the library: their difficulty ladders and measured figures.' },
    { name: 'items', description: 'Items: prompts for a model, by run, step, position or recipe.' },
    { name: 'scoring', description: 'Stateless scoring of completions.' },
    { name: 'rollouts', description: 'Groups of rollouts of one item, scored by workers.' },
    { name: 'runs', description: 'Training runs: settings, progress, curriculum and checkpoints.' },
    { name: 'batches', description: 'Batches of scored groups, by training step.' },
    { name: 'dumps', description: 'Dump files of scored groups, and exports as training data.' },
    { name: 'evals', description: 'Evals of a model on a suite.' },
    { name: 'collection', description: 'Collections: items of a run, completed by a model behind an API.' },
    { name: 'operations', description: 'Probes, metrics and failed jobs, for operators.' },
  ],
}

const TRAINERS: DocumentKind = {
  title: 'reasoning-gym-server: calls of trainers',
  description: `What trainers call, mostly in wire formats of their own, so that you need no code of your own. Their projects define the formats; the guide to trainers says how to set each one up.
A path with \`{run}\` uses the settings of that run and gathers the completions of an item into groups. The same path without \`/{run}\`, where there is one, uses the default settings and stores nothing.`,
  tags: [
    { name: 'data sets', description: 'Items as files that trainers load by URL.' },
    { name: 'rewards', description: 'Rewards of single completions, for reward functions in Python.' },
    ...Object.entries(FOREIGN_WIRES).map(([name, description]) => ({ name, description })),
  ],
}

/** Of every operation that does not say otherwise; the last one stands for servers without keys. */
const SECURITY = [{ bearer: [] }, { api_key: [] }, { basic: [] }, {}]

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key as a bearer token.' },
  api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key in a header.' },
  basic: {
    type: 'http',
    scheme: 'basic',
    description:
      'An API key as the password, with any user name: `http://trainer:KEY@host`. For clients that accept only a URL.',
  },
}

const METHOD_ORDER = ['patch', 'post', 'put', 'get', 'delete']

export function buildApiDocument(routes: DocumentedRoute[]): object {
  const tags = [...API.tags, ...TRAINERS.tags].map(({ name }) => name)
  const strange = routes.filter(({ schema }) => schema.tags?.length !== 1 || !tags.includes(schema.tags[0] ?? ''))
  if (strange.length > 0)
    throw new Error(`Each of these routes needs one tag of a document: ${strange.map(({ url }) => url).join(', ')}`)
  return buildDocument(API, routes)
}

export function buildTrainersDocument(routes: DocumentedRoute[]): object {
  return buildDocument(TRAINERS, omitTwins(routes))
}

/** Without the URLs that have a twin with a run in its path. */
function omitTwins(routes: DocumentedRoute[]): DocumentedRoute[] {
  const ids = new Set(routes.map(({ schema }) => schema.operationId))
  return routes.filter(({ schema }) => !ids.has(`${schema.operationId}OfRun`))
}

function buildDocument({ title, description, tags }: DocumentKind, routes: DocumentedRoute[]): object {
  const schemas = new SchemaComponents()
  const paths = buildPaths(
    tags.flatMap(({ name }) => routes.filter(({ schema }) => schema.tags?.[0] === name)),
    schemas,
  )
  schemas.convert(Problem, 'output')
  const text = JSON.stringify(paths)
  const isUsed = ([name]: [string, object]) => text.includes(`"#/components/responses/${name}"`)
  return {
    openapi: '3.1.0',
    info: { title, version: VERSION, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/', description: 'The server that serves this document.' }],
    externalDocs: {
      url: 'https://github.com/open-thought/reasoning-gym',
      description: 'The library that defines the tasks.',
    },
    security: SECURITY,
    tags,
    paths,
    components: {
      parameters: shareParameters(Object.values(paths).flatMap((methods) => Object.values(methods))),
      securitySchemes: SECURITY_SCHEMES,
      headers: {
        RetryAfter: {
          description: 'Seconds after which a retry makes sense.',
          schema: { type: 'integer', minimum: 0 },
          example: 2,
        },
      },
      responses: Object.fromEntries(Object.entries(buildErrorResponses()).filter(isUsed)),
      schemas: schemas.list(),
    },
  }
}

function buildPaths(routes: DocumentedRoute[], schemas: SchemaComponents): Record<string, Record<string, Operation>> {
  const byPath = Map.groupBy(routes, ({ url }) => url.replace(/:(\w+)/g, '{$1}'))
  const paths = [...byPath].map(([path, ofPath]) => {
    const operations = ofPath.map((route) => [route.method.toLowerCase(), buildOperation(route, schemas)] as const)
    const rank = ([method]: readonly [string, Operation]) => METHOD_ORDER.indexOf(method)
    return [path, Object.fromEntries(operations.toSorted((a, b) => rank(a) - rank(b)))] as const
  })
  return Object.fromEntries(paths)
}

/** Replaces parameters that occur more than once by references: `RunPath`, `IfMatchHeader`. */
function shareParameters(operations: Operation[]): Record<string, Parameter> {
  const all = operations.flatMap(({ parameters }) => parameters.filter((one) => 'name' in one))
  const repeated = [...Map.groupBy(all, (one) => JSON.stringify(one))].filter(([, { length }]) => length > 1)
  const shared = new Map<string, Parameter>()
  for (const [, [parameter]] of repeated.toSorted(([, a], [, b]) => b.length - a.length)) {
    if (parameter === undefined) continue
    const { name, in: place, schema } = parameter
    const base = name === 'id' && schema.$ref !== undefined ? schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1) : name
    const key = [...base.split('-'), place].map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
    if (!shared.has(key)) shared.set(key, parameter)
  }
  const names = new Map([...shared].map(([key, parameter]) => [JSON.stringify(parameter), key]))
  for (const operation of operations)
    operation.parameters = operation.parameters.map((one) => {
      const name = names.get(JSON.stringify(one))
      return name === undefined ? one : { $ref: `#/components/parameters/${name}` }
    })
  return Object.fromEntries([...shared].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
