import { pino } from 'pino'
import { expect, it } from 'vitest'
import type { App } from '../../../src/http/app.ts'
import { addRoutesWithAccess } from '../../../src/http/auth/access-rule.ts'
import { createHttpServer } from '../../../src/http/server.ts'
import { DownloadLimiter } from '../../../src/platform/client-memory/download-limiter.ts'
import { UploadLimiter } from '../../../src/platform/client-memory/upload-limiter.ts'
import { NO_REPLICATION } from '../../../src/platform/redis/replication.ts'

const createServer = (addRoutes: (app: App) => void) =>
  createHttpServer({
    log: pino({ level: 'silent' }),
    metricsRecorder: { recordResponse: () => {} },
    clientMemory: {
      bodies: new UploadLimiter({ limitBytes: 1e6, waitMs: 1000, slowMs: 1000 }),
      replies: new DownloadLimiter({ limitBytes: 1e6, waitMs: 1000, slowMs: 1000 }),
    },
    replication: NO_REPLICATION,
    isQuietRun: async () => true,
    addRoutes,
    pages: false,
  })

it('a server with a route that does not say who may call it does not start', async () => {
  await expect(createServer((app) => app.get('/secrets', () => 'open'))).rejects.toThrow(
    'GET /secrets does not say who may call it',
  )
})

it('routes that are added together share an access rule, unless one declares its own', async () => {
  const app = await createServer((server) => {
    addRoutesWithAccess(server, 'trainers', (scope) => {
      scope.get('/wire/state', () => ({}))
      scope.get('/wire/health', { config: { access: 'anyone' } }, () => ({}))
    })
    server.get('/tasks', { config: { access: 'readers' } }, () => ({}))
  })
  const roles = [...app.accessRules].map(([route, rule]) => [route, rule.roles])
  expect(Object.fromEntries(roles)).toMatchObject({
    'GET /wire/state': ['trainer', 'admin'],
    'HEAD /wire/state': ['trainer', 'admin'],
    'GET /wire/health': 'anyone',
    'GET /tasks': ['reader', 'trainer', 'evaluator', 'admin'],
  })
  await app.close()
})
