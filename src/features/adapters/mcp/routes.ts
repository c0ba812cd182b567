/** POST /mcp: the Model Context Protocol for coding agents, stateless and without event streams. */
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { App } from '../../../http/app.ts'
import type { AdaptersFeature } from '../index.ts'
import { sendJsonText } from '../json-text.ts'
import type { JsonRpcAnswer } from './server.ts'

/** Body and responses of a route that takes messages of the protocol. */
export const mcpAnswer = {
  body: z.unknown().describe('One JSON-RPC 2.0 message.'),
  examples: { bodies: { 'The tools': { jsonrpc: '2.0', id: 1, method: 'tools/list' } } },
  response: {
    200: z
      .strictObject({
        jsonrpc: z.literal('2.0').describe('Version of JSON-RPC.'),
        id: z.union([z.string(), z.number()]).nullable().describe('ID of the request; null if the request has none.'),
        result: z.record(z.string(), z.unknown()).optional().describe('Result of the method.'),
        error: z
          .strictObject({
            code: z.int().describe('Error code of JSON-RPC.'),
            message: z.string().describe('What went wrong.'),
          })
          .meta({ id: 'McpError', description: 'A JSON-RPC 2.0 error.' })
          .optional()
          .describe('Why there is no result.'),
      })
      .meta({ id: 'McpMessage', description: 'A JSON-RPC 2.0 response.' })
      .describe('The response to the request.'),
    202: z.null().describe('The notification was accepted; it has no response.'),
  },
}

export async function sendMcpAnswer(
  reply: FastifyReply,
  answer: Promise<JsonRpcAnswer | undefined>,
): Promise<FastifyReply> {
  const message = await answer
  return message === undefined ? reply.status(202).send() : sendJsonText(reply, JSON.stringify(message))
}

export function addMcpRoutes(app: App, { mcp }: AdaptersFeature): void {
  const schema = {
    operationId: 'callMcp',
    tags: ['mcp'],
    summary: 'Send a Model Context Protocol message',
    description: 'Offers tools to list tasks, get an item and score an answer.',
    ...mcpAnswer,
  }
  app.post('/mcp', { schema }, async ({ body }, reply) => sendMcpAnswer(reply, mcp.answer(body)))
}
