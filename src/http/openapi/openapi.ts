/** The API documents and Swagger UI, made from the routes' own schemas. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fastifyPlugin from 'fastify-plugin'
import type { App } from '../app.ts'
import { addRoutesWithAccess } from '../auth/access-rule.ts'
import { buildApiDocument, buildTrainersDocument } from './documents.ts'
import type { DocumentedRoute } from './operations.ts'

const ICON = readFileSync(join(import.meta.dirname, '..', '..', '..', 'packages', 'dashboard', 'src', 'icon.svg'))
const readPageFile = (name: string) => readFileSync(join(import.meta.dirname, 'swagger-ui', name), 'utf8')

export const openapi = fastifyPlugin(
  async (app) => {
    const routes: DocumentedRoute[] = []
    app.addHook('onRoute', ({ method, url, schema }) => {
      const rule = app.accessRules.get(`${String(method)} ${url}`)
      if (schema && !schema.hide && rule && typeof method === 'string' && method !== 'HEAD')
        routes.push({ method, url, schema, rule })
    })
    let api: object | undefined
    let trainers: object | undefined
    const getApi = () => (api ??= buildApiDocument(routes))
    const getTrainers = () => (trainers ??= buildTrainersDocument(routes))
    await app.register(swagger, {
      openapi: {},
      transform: ({ url }) => ({ schema: { hide: true }, url }),
      transformObject: getApi,
    })
    addRoutesWithAccess(app, 'anyone', async (pages) => {
      await addSwaggerUi(pages)
      pages.get('/openapi.json', { schema: { hide: true } }, getApi)
      pages.get('/openapi/trainers.json', { schema: { hide: true } }, getTrainers)
    })
  },
  { name: 'openapi', dependencies: ['authorization', 'validation'] },
)

async function addSwaggerUi(app: App): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    logo: { type: 'image/svg+xml', content: ICON },
    theme: {
      title: 'reasoning-gym-server API',
      favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: ICON }],
      css: [{ filename: 'page.css', content: readPageFile('page.css') }],
      js: [{ filename: 'page.js', content: readPageFile('page.js') }],
    },
    uiConfig: {
      urls: [
        { url: '../openapi.json', name: 'API' },
        { url: '../openapi/trainers.json', name: 'Calls of trainers' },
      ],
      docExpansion: 'list',
      defaultModelsExpandDepth: 0,
      filter: true,
      tryItOutEnabled: true,
      persistAuthorization: true, // for the session of the tab, see swagger-ui/page.js
      displayRequestDuration: true,
    },
  })
}
