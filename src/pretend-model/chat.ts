/** The wire of chat completions, as OpenAI documents it, with the token ids that vLLM adds. */
import { z } from 'zod'
import type { Behaviour } from './behaviour.ts'
import type { Completion } from './completion.ts'
import { logprobOf, tokenId, tokenize } from './tokens.ts'

const Content = z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() })), z.null()])

/** What is read of a request; other fields are let through, as real servers do. */
export const ChatRequest = z.looseObject({
  model: z.string().optional(),
  messages: z.array(z.looseObject({ role: z.string(), content: Content.optional() })).min(1),
  n: z.int().min(1).max(128).nullish(),
  seed: z.int().nullish().describe('Names the sample: the same seed for the same question gives the same completion'),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  logprobs: z.boolean().nullish(),
  return_token_ids: z.boolean().nullish(),
})
export type ChatRequest = z.infer<typeof ChatRequest>

/** The text of the last user message. */
export function questionOf({ messages }: ChatRequest): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content ?? ''
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('')
}

export interface Sample {
  sample: number
  completion: Completion
}

interface Said {
  id: string
  behaviour: Behaviour
  request: ChatRequest
  samples: Sample[]
}

/** The answer in one piece. */
export function chatCompletion({ id, behaviour, request, samples }: Said): object {
  const prompt = promptTokens(request)
  return {
    id,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: request.model ?? 'pretend',
    choices: samples.map(({ sample, completion: { content, finish_reason, tokens, ...rest } }, index) => ({
      index,
      message: { role: 'assistant', content, ...reasoningField(behaviour, rest.reasoning) },
      finish_reason,
      logprobs: request.logprobs ? { content: logprobs(behaviour, sample, tokens) } : null,
      ...(request.return_token_ids && { token_ids: tokens.map(tokenId) }),
    })),
    usage: usage(prompt, samples),
    ...(request.return_token_ids && { prompt_token_ids: prompt.map(tokenId) }),
  }
}

/** The same as server-sent events, a piece each. */
export function* chatChunks(said: Said): Generator<string> {
  const { id, behaviour, request, samples } = said
  const head = {
    id,
    object: 'chat.completion.chunk',
    created: Math.floor(Date.now() / 1000),
    model: request.model ?? 'pretend',
  }
  const chunk = (index: number, delta: object, finish_reason: string | null = null) =>
    event({ ...head, choices: [{ index, delta, finish_reason }] })
  for (const [index, { completion }] of samples.entries()) {
    yield chunk(index, { role: 'assistant', content: '' })
    for (const piece of tokenize(completion.reasoning ?? '')) yield chunk(index, reasoningField(behaviour, piece))
    for (const content of tokenize(completion.content)) yield chunk(index, { content })
    yield chunk(index, {}, completion.finish_reason)
  }
  if (request.stream_options?.include_usage)
    yield event({ ...head, choices: [], usage: usage(promptTokens(request), samples) })
  yield 'data: [DONE]\n\n'
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

function reasoningField({ reasoning }: Behaviour, text: string | null): object {
  return text === null ? {} : { [reasoning]: text }
}

function logprobs({ seed }: Behaviour, sample: number, tokens: string[]): object[] {
  return tokens.map((token, position) => ({
    token,
    logprob: logprobOf(seed, sample, position, token),
    bytes: [...Buffer.from(token)],
    top_logprobs: [],
  }))
}

function promptTokens({ messages }: ChatRequest): string[] {
  return messages.flatMap(({ role, content }) =>
    tokenize(`${role}\n${typeof content === 'string' ? content : JSON.stringify(content)}\n`),
  )
}

function usage(prompt: string[], samples: Sample[]): object {
  const completion_tokens = samples.reduce((sum, { completion }) => sum + completion.tokens.length, 0)
  return { prompt_tokens: prompt.length, completion_tokens, total_tokens: prompt.length + completion_tokens }
}

/** A failure as OpenAI tells it. */
export function problem(message: string, code: string): object {
  return { error: { message, type: code, param: null, code } }
}
