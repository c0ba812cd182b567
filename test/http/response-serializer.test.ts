import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import type { App } from '../../src/http/app.ts'
import { createHttpServer } from '../../src/http/server.ts'
import { NO_REPLICATION } from '../../src/platform/redis/replication.ts'
import { TransferSlots } from '../../src/platform/transfer-slots.ts'

const Reply = z.strictObject({ name: z.string(), inner: z.strictObject({ count: z.int() }).optional() })
const replies: Record<string, object> = {
  right: { name: 'a', inner: { count: 1 } },
  extra: { name: 'a', secret: 'the reference answer' },
  nested: { name: 'a', inner: { count: 1, secret: 'the reference answer' } },
  wrong: { name: 7 },
}

const lines: string[] = []
let app: App
beforeAll(async () => {
  app = await createHttpServer({
    log: pino({}, { write: (line: string) => void lines.push(line) }),
    metricsRecorder: { recordResponse: () => {} },
    transfers: {
      bodies: new TransferSlots({ slots: 4, waitMs: 1000, slowMs: 1000, setting: 'LARGE_BODIES' }),
      replies: new TransferSlots({ slots: 4, waitMs: 1000, slowMs: 1000, setting: 'LARGE_REPLIES' }),
    },
    replication: NO_REPLICATION,
    isQuietRun: async () => true,
    addRoutes: (server) => {
      server.get(
        '/replies/:kind',
        {
          config: { access: 'anyone' },
          schema: { params: z.strictObject({ kind: z.string() }), response: { 200: Reply } },
        },
        ({ params }) => replies[params.kind] as z.infer<typeof Reply>, // some of them are not
      )
    },
  })
})
afterAll(() => app.close())

it('a response that matches its schema is sent as it is', async () => {
  const response = await app.inject('/replies/right')
  expect([response.statusCode, response.json()]).toEqual([200, replies.right])
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
})

it.each(['extra', 'nested', 'wrong'])(
  'one that does not (%s) is a 500 without its fields; the log says why',
  async (kind) => {
    const response = await app.inject({ url: `/replies/${kind}`, headers: { 'x-request-id': kind } })
    expect([response.statusCode, response.json().code]).toEqual([500, 'internal'])
    expect(response.body).not.toContain('secret')
    const logged = lines.map((line) => JSON.parse(line)).filter(({ request_id }) => request_id === kind)
    expect(logged).toMatchObject([{ level: 50, err: { message: expect.stringContaining('GET /replies/:kind') } }])
    expect(lines.join()).not.toContain('the reference answer')
  },
)
