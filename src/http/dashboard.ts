/** The dashboard: files of ours as they are, and the libraries they use, all from this server; pages.ts has its policy. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import fastifyPlugin from 'fastify-plugin'

const DASHBOARD_DIR = join(import.meta.dirname, '..', 'dashboard')
const NODE_MODULES_DIR = join(import.meta.dirname, '..', '..', 'node_modules')

const VENDORED_LIBRARIES = {
  'preact.js': 'preact/dist/preact.mjs',
  'hooks.js': 'preact/hooks/dist/hooks.mjs',
  'htm.js': 'htm/dist/htm.mjs',
  'uplot.js': 'uplot/dist/uPlot.esm.js',
  'uplot.css': 'uplot/dist/uPlot.min.css',
}

export const dashboard = fastifyPlugin(
  async (app) => {
    const page = readFileSync(join(DASHBOARD_DIR, 'index.html'))
    await app.register(fastifyStatic, {
      root: DASHBOARD_DIR,
      prefix: '/dashboard/',
      index: false,
      decorateReply: false,
      cacheControl: false,
      setHeaders: (reply) => void reply.header('cache-control', 'no-cache'), // asked for again, by its ETag
    })
    for (const [name, path] of Object.entries(VENDORED_LIBRARIES)) {
      // The one import among them is by name, which browsers do not look up.
      const text = readFileSync(join(NODE_MODULES_DIR, path), 'utf8').replaceAll('from"preact"', 'from"./preact.js"')
      app.get(`/dashboard/vendor/${name}`, { schema: { hide: true } }, (_request, reply) =>
        reply
          .type(name.endsWith('.css') ? 'text/css' : 'text/javascript')
          .header('cache-control', 'no-cache')
          .send(text),
      )
    }
    app.get('/', { schema: { hide: true } }, (_request, reply) =>
      reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(page),
    )
  },
  { name: 'dashboard', dependencies: ['authorization', 'security-headers'] },
)
