/** The chat completions protocol as OpenAI documents it, with the token IDs that vLLM adds. */
import { z } from 'zod'
import type { MockModelBehavior } from './behavior.ts'
import { getTokenId, getTokenLogprob, type MockCompletion, tokenize } from './completion.ts'

const MessageContent = z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() })), z.null()])

/** The fields of a request that the model uses. It ignores other fields, as real servers do. */
export const ChatRequest = z.looseObject({
  model: z.string().optional(),
  messages: z.array(z.looseObject({ role: z.string(), content: MessageContent.optional() })).min(1),
  n: z.int().min(1).max(128).nullish(),
  seed: z
    .int()
    .nullish()
    .describe('Selects the sample. The same seed for the same question gives the same completion.'),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  logprobs: z.boolean().nullish(),
  return_token_ids: z.boolean().nullish(),
})
export type ChatRequest = z.infer<typeof ChatRequest>

/** The text of the last user message. */
export function getQuestion({ messages }: ChatRequest): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content ?? ''
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('')
}

export interface CompletionSample {
  sample: number
  completion: MockCompletion
}

interface ChatResponseParams {
  id: string
  behavior: MockModelBehavior
  request: ChatRequest
  samples: CompletionSample[]
}

/** The complete response. */
export function buildChatCompletion({ id, behavior, request, samples }: ChatResponseParams): object {
  const prompt = tokenizePrompt(request)
  return {
    ...buildHead('chat.completion', id, request),
    choices: samples.map(({ sample, completion: { content, finish_reason, tokens, ...rest } }, index) => ({
      index,
      message: { role: 'assistant', content, ...buildReasoningField(behavior, rest.reasoning) },
      finish_reason,
      logprobs: request.logprobs ? { content: buildLogprobs(behavior, sample, tokens) } : null,
      ...(request.return_token_ids && { token_ids: tokens.map(getTokenId) }),
    })),
    usage: buildUsage(prompt, samples),
    ...(request.return_token_ids && { prompt_token_ids: prompt.map(getTokenId) }),
  }
}

/** The response as server-sent events, one token per event. */
export function* streamChatChunks(said: ChatResponseParams): Generator<string> {
  const { id, behavior, request, samples } = said
  const head = buildHead('chat.completion.chunk', id, request)
  const chunk = (index: number, delta: object, finish_reason: string | null = null) =>
    formatSseEvent({ ...head, choices: [{ index, delta, finish_reason }] })
  for (const [index, { completion }] of samples.entries()) {
    yield chunk(index, { role: 'assistant', content: '' })
    for (const piece of tokenize(completion.reasoning ?? '')) yield chunk(index, buildReasoningField(behavior, piece))
    for (const content of tokenize(completion.content)) yield chunk(index, { content })
    yield chunk(index, {}, completion.finish_reason)
  }
  if (request.stream_options?.include_usage)
    yield formatSseEvent({ ...head, choices: [], usage: buildUsage(tokenizePrompt(request), samples) })
  yield 'data: [DONE]\n\n'
}

function buildHead(object: string, id: string, { model }: ChatRequest): object {
  return { id, object, created: Math.floor(Date.now() / 1000), model: model ?? 'mock' }
}

function formatSseEvent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

function buildReasoningField({ reasoning }: MockModelBehavior, text: string | null): object {
  return text === null ? {} : { [reasoning]: text }
}

function buildLogprobs({ seed }: MockModelBehavior, sample: number, tokens: string[]): object[] {
  return tokens.map((token, position) => ({
    token,
    logprob: getTokenLogprob(seed, sample, position, token),
    bytes: [...Buffer.from(token)],
    top_logprobs: [],
  }))
}

function tokenizePrompt({ messages }: ChatRequest): string[] {
  return messages.flatMap(({ role, content }) =>
    tokenize(`${role}\n${typeof content === 'string' ? content : JSON.stringify(content)}\n`),
  )
}

function buildUsage(prompt: string[], samples: CompletionSample[]): object {
  const completion_tokens = samples.reduce((sum, { completion }) => sum + completion.tokens.length, 0)
  return { prompt_tokens: prompt.length, completion_tokens, total_tokens: prompt.length + completion_tokens }
}

/** An error in the format of OpenAI. */
export function buildErrorBody(message: string, code: string): object {
  return { error: { message, type: code, param: null, code } }
}
