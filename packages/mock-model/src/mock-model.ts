/**
 * A mock model behind an OpenAI-compatible API. It looks up answers on a server and answers correctly with a given probability.
 * A completion depends only on the seed, the item and the sample number. A simulated failure depends only on the seed, the
 * question and the number of the request. So tests can compute scores and failures in advance.
 */
import Fastify, { type FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { MockModelBehavior } from './behavior.ts'
import { buildErrorBody, ChatRequest } from './chat.ts'
import { MockChatModel, type MockModelCounts } from './chat-model.ts'
import { createItemLookup, type ItemLookup } from './item-lookup.ts'

const MAX_BODY_BYTES = 16 * 1024 * 1024

export interface MockModelOptions extends z.input<typeof MockModelBehavior> {
  /** The server to look up items on, with an admin key if the server has keys. */
  server: { url: string; key?: string } | ItemLookup
  host?: string
  /** 0 picks a free port. */
  port?: number
  name?: string
  /** API key that callers must send. */
  apiKey?: string
}

export interface MockModel {
  /** Base URL for clients, including `/v1`. */
  url: string
  counts: MockModelCounts
  close(): Promise<void>
}

export async function startMockModel(options: MockModelOptions): Promise<MockModel> {
  const { server, host = '127.0.0.1', port = 0, name = 'mock', apiKey, ...given } = options
  const model = new MockChatModel(
    MockModelBehavior.parse(given),
    typeof server === 'function' ? server : createItemLookup(server.url, server.key),
  )
  const app = Fastify({ logger: false, bodyLimit: MAX_BODY_BYTES, forceCloseConnections: true })
  setErrorHandlers(app)
  if (apiKey !== undefined) {
    app.addHook('onRequest', async ({ headers }, reply) => {
      if (headers.authorization !== `Bearer ${apiKey}`)
        return reply.status(401).send(buildErrorBody('Incorrect API key', 'invalid_api_key'))
    })
  }
  app.get('/v1/models', () => ({
    object: 'list',
    data: [{ id: name, object: 'model', created: 0, owned_by: 'mock-model' }],
  }))
  app.get('/counts', () => model.counts)
  app.post('/v1/chat/completions', ({ body }, reply) => model.chat(ChatRequest.parse(body), reply))
  const address = await app.listen({ host, port })
  return { url: `${address}/v1`, counts: model.counts, close: () => app.close() }
}

function setErrorHandlers(app: FastifyInstance): void {
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const status = error.name === 'ZodError' ? 400 : (error.statusCode ?? 500)
    return reply.status(status).send(buildErrorBody(error.message, status < 500 ? 'invalid_request' : 'server_error'))
  })
  app.setNotFoundHandler((_request, reply) =>
    reply.status(404).send(buildErrorBody('There is nothing here', 'not_found')),
  )
}
