/** The OpenAPI document and Swagger UI, made from the routes' own schemas. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import swagger, { type SwaggerTransformObject } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fastifyPlugin from 'fastify-plugin'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { VERSION } from '../../platform/version.ts'
import { ERROR_TABLE } from '../errors/error-table.ts'
import { nameComponents, wrapReferences } from './components.ts'
import { applyExamplesInTagOrder, type OpenApiPaths, type OperationExample } from './examples.ts'

const LOGO_PATH = join(import.meta.dirname, '..', '..', 'dashboard', 'icon.svg')

const TAGS = [
  { name: 'tasks', description: 'Tasks of the library: their difficulty ladders and measured figures.' },
  { name: 'items', description: 'Items: prompts for a model, by run, step, position or recipe.' },
  { name: 'scoring', description: 'Stateless scoring of completions.' },
  { name: 'rollouts', description: 'Groups of rollouts of one item, scored by workers.' },
  { name: 'runs', description: 'Training runs: settings, progress, curriculum and checkpoints.' },
  { name: 'batches', description: 'Batches of scored groups, by training step.' },
  { name: 'dumps', description: 'Dump files of scored groups, and exports as training data.' },
  { name: 'evals', description: 'Evals of a model on a suite, and duels of two models.' },
  { name: 'collection', description: 'Collections: items of a run, completed by a model behind an API.' },
  { name: 'adapters', description: 'Adapters: the wire formats of trainers, which need no code of your own.' },
  { name: 'operations', description: 'Probes, metrics and failed jobs, for operators.' },
]

const API_DESCRIPTION = `Verifiable reasoning tasks for training and evaluating language models.

The examples, sent from top to bottom, are a whole session: an item, its rewards, a group of rollouts, a run, a batch.
Where the server has keys, enter one under *Authorize*.

Every failure is a problem document (\`application/problem+json\`) with a stable \`code\`. \`Retry-After\` gives the seconds until
a retry makes sense: on every 429 and 503, and on a 409 that a retry resolves.

| status | code | |
|---|---|---|
${Object.entries(ERROR_TABLE)
  .toSorted(([, a], [, b]) => a.status - b.status)
  .map(([code, { status, title }]) => `| ${status} | \`${code}\` | ${title} |`)
  .join('\n')}
`

interface OpenapiOptions {
  /** By method and path, as the document spells them. */
  operationExamples: Record<string, OperationExample>
}

export const openapi = fastifyPlugin<OpenapiOptions>(
  async (app, { operationExamples }) => {
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'reasoning-gym-server',
          version: VERSION,
          description: API_DESCRIPTION,
          license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        },
        tags: TAGS,
        components: {
          securitySchemes: {
            bearer: { type: 'http', scheme: 'bearer', description: 'A key of API_KEYS' },
            api_key: {
              type: 'apiKey',
              in: 'header',
              name: 'X-API-Key',
              description: 'The same in a header of its own',
            },
            basic: {
              type: 'http',
              scheme: 'basic',
              description:
                'The same as the password, with any user name: http://trainer:KEY@host, for clients that take nothing but a URL',
            },
          },
        },
      },
      transform: transformRouteSchema,
      transformObject: (document) => {
        markOptionalBodies(document)
        const made = nameComponents(jsonSchemaTransformObject(document))
        const tags = TAGS.map(({ name }) => name)
        return { ...made, paths: applyExamplesInTagOrder(made.paths as OpenApiPaths, tags, operationExamples) } // OpenAPI 3, as told above
      },
    })
    await app.register(swaggerUi, {
      routePrefix: '/docs',
      logo: { type: 'image/svg+xml', content: readFileSync(LOGO_PATH), href: '/', target: '_self' },
      theme: {
        title: 'reasoning-gym-server: the calls',
        css: [{ filename: 'narrow.css', content: SCROLLING_TABLE_CSS }],
      },
      uiConfig: {
        docExpansion: 'list',
        tryItOutEnabled: true,
        persistAuthorization: false,
        displayRequestDuration: true,
      },
    })
    app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
  },
  { name: 'openapi', dependencies: ['authorization', 'common-responses', 'validation'] },
)

/** The table of failures scrolls in itself: it is wider than a phone. */
const SCROLLING_TABLE_CSS = '.swagger-ui .info table { display: block; overflow-x: auto }'

const OPTIONAL_BODY_EXTENSION = 'x-optional-body'

/** The plugin calls every body required; one that the schema has a default for is not. */
function transformRouteSchema(
  route: Parameters<typeof jsonSchemaTransform>[0],
): ReturnType<typeof jsonSchemaTransform> {
  const { schema, url } = jsonSchemaTransform(route)
  const { body } = route.schema
  const isOptional = body instanceof z.ZodType && body.safeParse(undefined).success
  const wrapped = wrapReferences(schema) as typeof schema // of the same shape
  return { schema: isOptional ? Object.assign(wrapped, { [OPTIONAL_BODY_EXTENSION]: true }) : wrapped, url }
}

type OperationWithBodyFlag = { [OPTIONAL_BODY_EXTENSION]?: boolean; requestBody?: { required?: boolean } }

function markOptionalBodies(document: Parameters<SwaggerTransformObject>[0]): void {
  if (!('openapiObject' in document)) return
  const { openapiObject } = document
  for (const methods of Object.values(openapiObject.paths ?? {})) {
    for (const operation of Object.values(methods as Record<string, OperationWithBodyFlag>)) {
      if (operation[OPTIONAL_BODY_EXTENSION] && operation.requestBody) operation.requestBody.required = false
      delete operation[OPTIONAL_BODY_EXTENSION]
    }
  }
}
