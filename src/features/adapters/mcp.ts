/**
 * POST /mcp: the part of the Model Context Protocol that coding agents and OpenEnv's validator need, with tools to list
 * tasks, get an item and score an answer. It is stateless, with one JSON answer per call and no event streams. Clients
 * that probe for a newer protocol fall back to this handshake.
 */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { ItemId } from '@reasoning-gym-server/contract/item-id'
import { Config, Difficulty, RecipeInput, TaskName } from '@reasoning-gym-server/contract/recipe'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Submission } from '../../grading/submission.ts'
import type { App } from '../../http/app.ts'
import { formatFieldErrors } from '../../http/errors/field-errors.ts'
import { VERSION } from '../../platform/installation.ts'
import { translateRedisError } from '../../platform/redis/redis-errors.ts'
import type { Items } from '../items/items.ts'
import { DEFAULT_PROMPT_SETTINGS } from '../items/prompt.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'
import type { SampleScoring } from './sample-scoring.ts'
import { sendJsonText } from './trainer-calls.ts'

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

type JsonRpcAnswer = { jsonrpc: '2.0'; id: string | number | null } & (
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
    return formatFieldErrors(error.issues, 'arguments')
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

/** How long to retry failures of the server. Agents wait at most a minute for a tool. */
const RETRY_WINDOW_MS = 20_000

interface McpTool {
  name: string
  description: string
  input: z.ZodType
  /** Runs the tool. Throws ZodError for its input, and ServiceError. */
  call(input: unknown): Promise<Record<string, unknown>>
}

interface McpToolsDeps {
  items: Items
  tasks: TaskCatalog
  samples: SampleScoring
}

const ListTasksInput = z.object({
  category: z.string().optional().describe('Only tasks of this category'),
  query: z.string().optional().describe('Only tasks whose name or category contains this text'),
})

const GetItemInput = z.object({
  item_id: ItemId.optional().describe('The item again, in place of a task'),
  task: TaskName.optional().describe('Name of a task, from list_tasks'),
  difficulty: Difficulty.optional().describe('0 is easiest, 1 hardest; without it the defaults of the library apply'),
  config: Config.optional().describe('Fields of the config of the task, in place of difficulty'),
  seed: RecipeInput.shape.seed.describe('Items of one task with other seeds are other items'),
  index: RecipeInput.shape.index,
})

const ScoreAnswerInput = z.object({
  item_id: ItemId.describe('From get_item'),
  answer: z.string().optional().describe('The bare answer, without explanations'),
  completion: z.string().optional().describe('A whole reply of a model, whose answer stands in <answer> tags'),
})

export function createMcpTools(deps: McpToolsDeps): McpTool[] {
  return [
    {
      name: 'list_tasks',
      description: 'Lists the reasoning tasks: name, category, and whether their difficulty can be set.',
      input: ListTasksInput,
      call: async (input) => listTasks(deps, ListTasksInput.parse(input)),
    },
    {
      name: 'get_item',
      description: 'Makes an item of a task and returns its question and ID. Equal arguments return equal items.',
      input: GetItemInput,
      call: (input) => getItem(deps, GetItemInput.parse(input)),
    },
    {
      name: 'score_answer',
      description: 'Scores an answer to an item, from 0 to 1. Give either answer or completion.',
      input: ScoreAnswerInput,
      call: (input) => scoreAnswer(deps, ScoreAnswerInput.parse(input)),
    },
  ]
}

function listTasks({ tasks }: McpToolsDeps, { category, query }: z.infer<typeof ListTasksInput>) {
  const found = tasks.list(category, query)
  return { tasks: found.map(({ name, category: of, adjustable }) => ({ name, category: of, adjustable })) }
}

async function getItem({ items }: McpToolsDeps, input: z.infer<typeof GetItemInput>) {
  const { item_id, task, ...fields } = input
  if (item_id === undefined && task === undefined) throw invalidInput('task', 'give a task, or an item_id')
  const recipe =
    item_id === undefined
      ? await items.resolveRecipe({ task: task ?? '', ...fields })
      : await items.resolveItemId(item_id)
  const item = items.formatItem(await items.getOrCreateOne(recipe), DEFAULT_PROMPT_SETTINGS)
  const { id, question, category, difficulty, messages } = item
  return { item_id: id, task: item.task, category, difficulty, question, messages }
}

async function scoreAnswer({ samples }: McpToolsDeps, input: z.infer<typeof ScoreAnswerInput>) {
  const sample = { itemId: input.item_id, submission: readSubmission(input) }
  const [result] = await samples.score({ adapter: 'mcp', samples: [sample], retryWindowMs: RETRY_WINDOW_MS })
  if (!result) throw new ServiceError('internal', 'The sample has no result.')
  const { verdict } = result
  if (verdict.status === 'unscored') return { item_id: input.item_id, ...verdict }
  const { status, score, answer, fault } = verdict
  return { item_id: input.item_id, status, score, answer, fault }
}

function readSubmission({ answer, completion }: z.infer<typeof ScoreAnswerInput>): Submission {
  if (completion !== undefined) return { kind: 'completion', completion }
  if (answer !== undefined) return { kind: 'answer', answer }
  throw invalidInput('answer', 'give either answer or completion')
}

function invalidInput(field: string, message: string): z.ZodError {
  return new z.ZodError([{ code: 'custom', path: [field], message, input: undefined }])
}

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

export function addMcpRoutes(app: App, { mcp }: { mcp: McpServer }): void {
  const schema = {
    operationId: 'callMcp',
    tags: ['mcp'],
    summary: 'Send a Model Context Protocol message',
    description: 'Offers tools to list tasks, get an item and score an answer.',
    ...mcpAnswer,
  }
  app.post('/mcp', { schema }, async ({ body }, reply) => sendMcpAnswer(reply, mcp.answer(body)))
}
