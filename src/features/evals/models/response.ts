/** Parses one choice of an OpenAI-compatible response, with the tokens and logprobs that some servers add. */
import { FinishReason } from '@reasoning-gym-server/contract/common'
import { z } from 'zod'
import { hasNoCompletion } from '../../../grading/finish-reason.ts'

/** Makes an optional field lenient, so that a malformed one does not lose the completion. */
function ignoreIfInvalid<T extends z.ZodType>(shape: T) {
  return shape.nullish().catch(undefined)
}

const TEXT_PARTS: ReadonlySet<string> = new Set(['text', 'output_text'])
const KNOWN_PARTS: ReadonlySet<string> = new Set([...TEXT_PARTS, 'thinking', 'reasoning', 'refusal'])

const TokenIds = ignoreIfInvalid(z.array(z.int()))

const ChatChoice = z.looseObject({
  message: z.looseObject({
    content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
    reasoning: z.unknown().optional(),
    reasoning_content: z.unknown().optional(),
    tool_calls: ignoreIfInvalid(z.array(z.unknown())),
  }),
  finish_reason: ignoreIfInvalid(FinishReason),
  error: z.unknown().optional(),
  token_ids: TokenIds,
  prompt_token_ids: TokenIds,
  logprobs: ignoreIfInvalid(z.looseObject({ content: z.array(z.looseObject({ logprob: z.number() })).nullish() })),
})

const ChatCompletion = z.looseObject({
  choices: z.tuple([ChatChoice]).rest(z.unknown()),
  usage: ignoreIfInvalid(z.looseObject({ completion_tokens: z.int().min(0) })),
  prompt_token_ids: TokenIds,
})

/** A completion as stored. */
export const ModelResponse = z.strictObject({
  content: z.string(),
  /** Reasoning that the server returned separately from the content. */
  reasoning: z.string().optional(),
  /** Tool calls; if there are any, the content is an intermediate message and not an answer. */
  tool_calls: z.array(z.unknown()).optional(),
  finish_reason: z.string().nullable(),
  length_tokens: z.int().optional(),
  prompt_token_ids: z.array(z.int()).optional(),
  token_ids: z.array(z.int()).optional(),
  logprobs: z.array(z.number()).optional(),
})
export type ModelResponse = z.infer<typeof ModelResponse>

/** Why a chat completion holds no text of the model, or undefined: the provider failed, and says so with status 200. */
export function findProviderFailure(body: unknown): string | undefined {
  const choice = ChatCompletion.safeParse(body).data?.choices[0]
  if (!choice) return undefined
  const { message, finish_reason, error } = choice
  if (error !== undefined && error !== null) return `the model's server reports ${JSON.stringify(error)}`
  if (hasNoCompletion(finish_reason)) return `finish_reason ${finish_reason}`
  const { content } = message
  const hasOther = Boolean(
    message.reasoning_content || message.reasoning || message.tool_calls?.length || message.refusal,
  )
  if (Array.isArray(content) && content.length > 0 && content.every(({ type }) => !KNOWN_PARTS.has(type)))
    return `no part of the content has a known type: ${content.map(({ type }) => type).join(', ')}`
  const hasUsage = (body as { usage?: unknown }).usage !== undefined && (body as { usage?: unknown }).usage !== null // as parsed above
  return content === null && !hasOther && !hasUsage ? 'the response has neither content nor usage' : undefined
}

/** Returns undefined if `body` is not a chat completion. */
export function parseModelResponse(body: unknown): ModelResponse | undefined {
  const parsed = ChatCompletion.safeParse(body)
  if (!parsed.data) return undefined
  const [choice] = parsed.data.choices
  const { message, finish_reason, token_ids, logprobs } = choice
  const reasoning = [message.reasoning_content, message.reasoning].find(
    (text) => typeof text === 'string' && text !== '',
  )
  const prompt = choice.prompt_token_ids ?? parsed.data.prompt_token_ids
  const tokens = parsed.data.usage?.completion_tokens ?? token_ids?.length
  return {
    content: contentToText(message.content ?? ''),
    ...(typeof reasoning === 'string' && { reasoning }),
    ...(message.tool_calls?.length && { tool_calls: message.tool_calls }),
    finish_reason: finish_reason ?? null,
    ...(tokens !== undefined && { length_tokens: tokens }),
    ...(prompt && { prompt_token_ids: prompt }),
    ...(token_ids && { token_ids }),
    ...(logprobs?.content && { logprobs: logprobs.content.map(({ logprob }) => logprob) }),
  }
}

function contentToText(content: string | { type: string; text?: unknown }[]): string {
  if (typeof content === 'string') return content
  return content.map(({ type, text }) => (TEXT_PARTS.has(type) && typeof text === 'string' ? text : '')).join('')
}
