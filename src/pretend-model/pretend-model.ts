/**
 * An OpenAI-compatible model that is none: it looks the answer up in a server, and is right as often as it is told to be.
 * What it says depends on its seed, the item and the number of the sample alone, and what befalls a request on its seed,
 * the question and how often that was asked: so scores and failures are known before anything is asked.
 */
import Fastify, { type FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { Behaviour } from './behaviour.ts'
import { ChatRequest, problem } from './chat.ts'
import { type Knowledge, knowledgeOf } from './knowledge.ts'
import { Model } from './model.ts'
import type { Tally } from './tally.ts'

const BODY_BYTES = 16 * 1024 * 1024

export interface PretendModelOptions extends z.input<typeof Behaviour> {
  /** The server whose items it knows, and an admin's key where it has keys. */
  server: { url: string; key?: string } | Knowledge
  host?: string
  /** 0: any free one. */
  port?: number
  name?: string
  /** What callers must send as their key. */
  apiKey?: string
}

export interface PretendModel {
  /** The base URL for clients, with `/v1`. */
  url: string
  tally: Tally
  close(): Promise<void>
}

export async function startPretendModel(options: PretendModelOptions): Promise<PretendModel> {
  const { server, host = '127.0.0.1', port = 0, name = 'pretend', apiKey, ...given } = options
  const model = new Model(
    Behaviour.parse(given),
    typeof server === 'function' ? server : knowledgeOf(server.url, server.key),
  )
  const app = Fastify({ logger: false, bodyLimit: BODY_BYTES, forceCloseConnections: true })
  addErrors(app)
  if (apiKey !== undefined) {
    app.addHook('onRequest', async ({ headers }, reply) => {
      if (headers.authorization !== `Bearer ${apiKey}`)
        return reply.status(401).send(problem('Incorrect API key', 'invalid_api_key'))
    })
  }
  app.get('/v1/models', () => ({
    object: 'list',
    data: [{ id: name, object: 'model', created: 0, owned_by: 'nobody' }],
  }))
  app.get('/tally', () => model.tally)
  app.post('/v1/chat/completions', ({ body }, reply) => model.chat(ChatRequest.parse(body), reply))
  const address = await app.listen({ host, port })
  return { url: `${address}/v1`, tally: model.tally, close: () => app.close() }
}

function addErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const status = error.name === 'ZodError' ? 400 : (error.statusCode ?? 500)
    return reply.status(status).send(problem(error.message, status < 500 ? 'invalid_request' : 'server_error'))
  })
  app.setNotFoundHandler((_request, reply) => reply.status(404).send(problem('There is nothing here', 'not_found')))
}
