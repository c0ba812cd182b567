/** POST /mcp: the Model Context Protocol for coding agents, stateless and without event streams. */

import type { AdapterDescription } from '@reasoning-gym-server/contract/adapter'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { problemResponses } from '../../http/errors/problem-responses.ts'
import type { ServerAddress } from './catalogue.ts'
import type { AdaptersFeature } from './index.ts'
import type { JsonRpcAnswer } from './mcp.ts'
import { sendJsonText } from './reward-routes.ts'

/** Body and responses of a route that takes messages of the protocol. */
export const mcpAnswer = {
  body: z.unknown().describe('One JSON-RPC 2.0 message.'),
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
    ...problemResponses('invalid_json', 'body_too_large'),
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
    tags: ['adapters'],
    summary: 'Send a Model Context Protocol message',
    description: 'Offers tools to list tasks, get an item and score an answer.',
    ...mcpAnswer,
  }
  app.post('/mcp', { schema }, async ({ body }, reply) => sendMcpAnswer(reply, mcp.answer(body)))
}

export function describeMcp({ url }: ServerAddress): AdapterDescription {
  return {
    name: 'mcp',
    title: 'Coding agents (Model Context Protocol)',
    summary: 'Tools to list tasks, get an item and score an answer, for agents that set up or inspect a training.',
    paths: ['/mcp'],
    client_file: null,
    unscored: 'The status unscored, with a code.',
    snippets: [
      {
        title: 'Add the server to an agent',
        language: 'json',
        code: JSON.stringify(
          {
            mcpServers: {
              'reasoning-gym': { type: 'http', url: `${url}/mcp`, headers: { Authorization: 'Bearer API_KEY' } },
            },
          },
          null,
          2,
        ),
      },
    ],
  }
}
