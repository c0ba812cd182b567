/**
 * Implements the part of the Model Context Protocol that coding agents and OpenEnv's validator need: stateless, with
 * one JSON answer per call. Clients that probe for a newer protocol fall back to this handshake.
 */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { z } from 'zod'
import { formatFieldErrors } from '../../http/errors/field-errors.ts'
import { translateRedisError } from '../../platform/redis/redis-errors.ts'
import { VERSION } from '../../platform/version.ts'
import type { McpTool } from './mcp-tools.ts'

/** Protocol versions that begin with a handshake, newest first. */
const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

/** Error codes of JSON-RPC 2.0. */
const INVALID_REQUEST = -32600
const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603

const INSTRUCTIONS =
  'Reasoning tasks with answers that a program checks. List the tasks, get an item, show its question to a model or solve it, and score the answer. The reference answer is never shown.'

const RequestMessage = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]),
  method: z.string(),
  params: z.looseObject({}).optional(),
})
type RequestMessage = z.infer<typeof RequestMessage>
const Notification = z.looseObject({ jsonrpc: z.literal('2.0'), method: z.string(), id: z.undefined().optional() })
/** A response to a request that this server never sent. */
const ResponseMessage = z.looseObject({ jsonrpc: z.literal('2.0'), id: z.unknown(), method: z.undefined().optional() })
const CallParams = z.looseObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).nullish() })

export type JsonRpcAnswer = { jsonrpc: '2.0'; id: string | number | null } & (
  | { result: Record<string, unknown> }
  | { error: { code: number; message: string } }
)

export class McpServer {
  readonly #tools: ReadonlyMap<string, McpTool>

  constructor(tools: readonly McpTool[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]))
  }

  /** Returns the answer to a message, or undefined for one that needs none. Never rejects. */
  async answer(message: unknown): Promise<JsonRpcAnswer | undefined> {
    const request = RequestMessage.safeParse(message)
    if (request.success) return this.#answerRequest(request.data)
    if (Notification.safeParse(message).success) return undefined
    if (isResponse(message)) return undefined
    return failure(null, INVALID_REQUEST, 'This is not a JSON-RPC 2.0 request: it needs jsonrpc, id and method')
  }

  async #answerRequest(request: RequestMessage): Promise<JsonRpcAnswer> {
    const { id, method, params = {} } = request
    switch (method) {
      case 'initialize':
        return success(id, describeServer(params.protocolVersion))
      case 'ping':
        return success(id, {})
      case 'tools/list':
        return success(id, { tools: [...this.#tools.values()].map(describeTool) })
      case 'tools/call':
        return this.#callTool(id, params)
      default:
        return failure(id, METHOD_NOT_FOUND, `There is no method ${method.slice(0, 100)}`)
    }
  }

  async #callTool(id: RequestMessage['id'], params: object): Promise<JsonRpcAnswer> {
    const call = CallParams.safeParse(params)
    if (!call.success) return failure(id, INVALID_PARAMS, 'tools/call needs the name of a tool, and its arguments')
    const tool = this.#tools.get(call.data.name)
    if (!tool) return failure(id, INVALID_PARAMS, `There is no tool ${call.data.name.slice(0, 100)}`)
    try {
      const value = await tool.call(call.data.arguments ?? {})
      const content = [{ type: 'text', text: JSON.stringify(value) }]
      return success(id, { content, structuredContent: value, isError: false })
    } catch (error) {
      const text = describeFailure(error)
      if (text === undefined) return failure(id, INTERNAL_ERROR, 'The server failed')
      return success(id, { content: [{ type: 'text', text }], isError: true })
    }
  }
}

function describeServer(requested: unknown): Record<string, unknown> {
  const version = PROTOCOL_VERSIONS.find((one) => one === requested) ?? PROTOCOL_VERSIONS[0]
  return {
    protocolVersion: version,
    capabilities: { tools: { listChanged: false } },
    serverInfo: { name: 'reasoning-gym-server', version: VERSION },
    instructions: INSTRUCTIONS,
  }
}

function describeTool({ name, description, input }: McpTool): Record<string, unknown> {
  return { name, description, inputSchema: z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) }
}

/** Describes an error that the caller can fix, in words for a model; undefined for a fault of the server. */
function describeFailure(error: unknown): string | undefined {
  if (error instanceof z.ZodError)
    return error.issues
      .flatMap((issue) => formatFieldErrors(issue, 'arguments'))
      .map(({ path, message }) => `${path}: ${message}`)
      .join('; ')
  const known = translateRedisError(error)
  return known instanceof ServiceError && known.code !== 'internal' ? `${known.code}: ${known.message}` : undefined
}

function isResponse(message: unknown): boolean {
  if (!ResponseMessage.safeParse(message).success || typeof message !== 'object' || message === null) return false
  return 'result' in message || 'error' in message
}

function success(id: string | number, result: Record<string, unknown>): JsonRpcAnswer {
  return { jsonrpc: '2.0', id, result }
}

function failure(id: string | number | null, code: number, message: string): JsonRpcAnswer {
  return { jsonrpc: '2.0', id, error: { code, message } }
}
