/** From a conversation to the text that is read: the last assistant message without tool calls. */
import type { Message } from '../words/rollout.ts'

const TEXT_PARTS = new Set(['text', 'output_text', 'input_text'])
const THINKING_PARTS = new Set(['reasoning', 'reasoning_text', 'thinking'])

/** Its text, and whether its thinking came apart (then the text is free of it already); undefined if there is none. */
export function finalText(messages: Message[]): { text: string; thinkingApart: boolean } | undefined {
  const last = messages.findLast((message) => message.role === 'assistant' && !hasToolCalls(message))
  return last && { text: textOf(last.content), thinkingApart: hasThinkingApart(last) }
}

function hasToolCalls(message: Message): boolean {
  return Array.isArray(message.tool_calls) && message.tool_calls.length > 0
}

function hasThinkingApart({ reasoning, reasoning_content, content }: Message): boolean {
  if ([reasoning, reasoning_content].some((field) => typeof field === 'string' && field !== '')) return true
  return Array.isArray(content) && content.some(({ type }) => THINKING_PARTS.has(type))
}

function textOf(content: Message['content']): string {
  if (typeof content === 'string') return content
  return (content ?? [])
    .map(({ type, text }) => (TEXT_PARTS.has(type) && typeof text === 'string' ? text : ''))
    .join('')
}
