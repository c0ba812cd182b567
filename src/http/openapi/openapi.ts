/** The OpenAPI document and Swagger UI, made from the routes' own schemas. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import swagger, { type SwaggerTransformObject } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fastifyPlugin from 'fastify-plugin'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { VERSION } from '../../platform/version.ts'
import { SECURITY } from './common-responses.ts'
import { nameComponents, wrapReferences } from './components.ts'
import { addDiscriminators } from './discriminators.ts'
import { applyExamplesInTagOrder, type OpenApiPaths, type OperationExample } from './examples.ts'
import { extendSchemas } from './extend-schemas.ts'
import { nameInlineObjects } from './name-inline-objects.ts'
import { hideOpaqueFields } from './opaque-schemas.ts'
import { buildErrorResponses } from './problem-examples.ts'
import { addResponseExamples, type ResponseExamples } from './response-examples.ts'
import { shareComponents } from './share-components.ts'
import { simplifySchemas } from './simplify-schemas.ts'

const ICON = readFileSync(join(import.meta.dirname, '..', '..', '..', 'packages', 'dashboard', 'src', 'icon.svg'))
const readPageFile = (name: string) => readFileSync(join(import.meta.dirname, 'swagger-ui', name), 'utf8')

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
  {
    name: 'adapters',
    description: 'Adapters: endpoints in the wire formats of trainers, so that you need no code of your own.',
  },
  { name: 'operations', description: 'Probes, metrics and failed jobs, for operators.' },
]

const API_DESCRIPTION = `Verifiable reasoning tasks for training and evaluating language models.
The examples, sent from top to bottom, are a complete session. If the server has API keys, enter one under *Authorize*.
Each call names the roles of keys that may make it; keys with the role \`admin\` may make every call.
Every error is a problem document (RFC 9457) with a stable \`code\`; retry after the seconds that \`Retry-After\` names.`

interface OpenapiOptions {
  /** By method and path, as the document spells them. */
  operationExamples: Record<string, OperationExample>
  responseExamples: ResponseExamples
}

export const openapi = fastifyPlugin<OpenapiOptions>(
  async (app, { operationExamples, responseExamples }) => {
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
        servers: [{ url: '/', description: 'The server that serves this document.' }],
        externalDocs: {
          url: 'https://github.com/open-thought/reasoning-gym',
          description: 'The library that defines the tasks.',
        },
        security: SECURITY,
        components: {
          headers: {
            RetryAfter: {
              description: 'Seconds after which a retry makes sense.',
              schema: { type: 'integer', minimum: 0 },
              example: 2,
            },
          },
          securitySchemes: {
            bearer: { type: 'http', scheme: 'bearer', description: 'An API key as a bearer token.' },
            api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key in a header.' },
            basic: {
              type: 'http',
              scheme: 'basic',
              description:
                'An API key as the password, with any user name: `http://trainer:KEY@host`. For clients that accept only a URL.',
            },
          },
        },
      },
      transform: transformRouteSchema,
      transformObject: (document) => {
        markOptionalBodies(document)
        return shapeDocument(jsonSchemaTransformObject(document), { operationExamples, responseExamples })
      },
    })
    await app.register(swaggerUi, {
      routePrefix: '/docs',
      theme: {
        title: 'reasoning-gym-server API',
        favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: ICON }],
        css: [{ filename: 'page.css', content: readPageFile('page.css') }],
        js: [{ filename: 'page.js', content: readPageFile('page.js') }],
      },
      uiConfig: {
        docExpansion: 'list',
        tryItOutEnabled: true,
        layout: 'BaseLayout', // without the bar to open other documents
        persistAuthorization: true, // for the session of the tab, see swagger-ui/page.js
        displayRequestDuration: true,
      },
    })
    app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
  },
  { name: 'openapi', dependencies: ['authorization', 'common-responses', 'validation'] },
)

/** Changes the operations of the document. */
function shapeDocument<T extends object>(document: T, { operationExamples, responseExamples }: OpenapiOptions): T {
  const { components, ...rest } = nameComponents(hideOpaqueFields(document)) as T & { components: Components }
  const { paths, schemas: simplified } = simplifySchemas({
    paths: (rest as { paths?: OpenApiPaths }).paths ?? {},
    schemas: components.schemas,
  })
  const named = nameInlineObjects(simplified)
  const discriminated = addDiscriminators(named, named)
  const ordered = applyExamplesInTagOrder(
    addDiscriminators(paths, named),
    TAGS.map(({ name }) => name),
    operationExamples,
  )
  const requests = Object.values(ordered).flatMap((methods) => Object.values(methods).map((one) => one.requestBody))
  const schemas = extendSchemas(discriminated, requests)
  describeParametersAndResponses(ordered, schemas)
  addResponseExamples(ordered, responseExamples)
  const shared = shareComponents(ordered, buildErrorResponses())
  return { ...rest, paths: ordered, components: { ...components, schemas, ...shared } } as T // with the same sections
}

/** A parameter or response without a sentence of its own has that of its schema. */
function describeParametersAndResponses(paths: OpenApiPaths, schemas: Components['schemas']): void {
  const describe = ($ref = '') => schemas[$ref.slice($ref.lastIndexOf('/') + 1)]?.description
  for (const { parameters = [], responses = {} } of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    for (const parameter of parameters) parameter.description ??= describe(parameter.schema?.$ref) ?? ''
    for (const response of Object.values(responses)) {
      if (response.description !== DEFAULT_DESCRIPTION) continue
      response.description = describe(Object.values(response.content ?? {})[0]?.schema?.$ref) ?? ''
    }
  }
}

/** What @fastify/swagger writes where there is no description. */
const DEFAULT_DESCRIPTION = 'Default Response'

interface Components {
  schemas: Record<string, { description?: string }>
}

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
