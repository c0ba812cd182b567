/**
 * Serves the dashboard: its own files unchanged, and the libraries that it uses. cors-and-security-headers.ts has its content
 * security policy.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import fastifyPlugin from 'fastify-plugin'
import { findPackageFolder } from '../platform/installation.ts'
import type { App } from './app.ts'
import { addRoutesWithAccess } from './auth/access-rule.ts'

const DASHBOARD_DIR = join(import.meta.dirname, '..', '..', 'packages', 'dashboard', 'src')

const VENDORED_LIBRARIES: Record<string, [packageName: string, file: string]> = {
  'preact.js': ['preact', 'dist/preact.mjs'],
  'hooks.js': ['preact', 'hooks/dist/hooks.mjs'],
  'htm.js': ['htm', 'dist/htm.mjs'],
  'uplot.js': ['uplot', 'dist/uPlot.iife.min.js'],
  'uplot.css': ['uplot', 'dist/uPlot.min.css'],
}

export const dashboard = fastifyPlugin(async (app) => addRoutesWithAccess(app, 'anyone', addPages), {
  name: 'dashboard',
  dependencies: ['authorization', 'security-headers'],
})

async function addPages(app: App): Promise<void> {
  const page = readFileSync(join(DASHBOARD_DIR, 'index.html'))
  await app.register(fastifyStatic, {
    root: DASHBOARD_DIR,
    prefix: '/dashboard/',
    index: false,
    decorateReply: false,
    cacheControl: false,
    setHeaders: (reply) => void reply.header('cache-control', 'no-cache'), // revalidated by its ETag
  })
  for (const [name, [packageName, file]] of Object.entries(VENDORED_LIBRARIES)) {
    // hooks.js imports "preact" by name, which browsers resolve only with an import map: that must be inline, and would need its
    // hash in the content security policy. htm/preact/standalone needs neither, but bundles an older major version of preact.
    const text = readPackageFile(packageName, file).replaceAll('from"preact"', 'from"./preact.js"')
    // uPlot's module is not minified, which would cost 20 KB of the pages' budget. Its minified script only defines a variable.
    const exports = name === 'uplot.js' ? '\nexport default uPlot\n' : ''
    app.get(`/dashboard/vendor/${name}`, { schema: { hide: true } }, (_request, reply) =>
      reply
        .type(name.endsWith('.css') ? 'text/css' : 'text/javascript')
        .header('cache-control', 'no-cache')
        .send(text + exports),
    )
  }
  app.get('/', { schema: { hide: true } }, (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(page),
  )
}

function readPackageFile(name: string, file: string): string {
  const folder = findPackageFolder(name)
  if (folder === undefined) throw new Error(`The package ${name} is not installed: run \`npm ci\``)
  return readFileSync(join(folder, file), 'utf8')
}
