/** From a conversation to the text that is read: the last assistant message without tool calls. */
import type { Message } from '../words/rollout.ts'

/** Its text, and whether its thinking came apart (then the text is free of it already); undefined if there is none. */
export function finalText(messages: Message[]): { text: string; thinkingApart: boolean } | undefined {
  const last = messages.findLast((message) => message.role === 'assistant' && !hasToolCalls(message))
  if (!last) return undefined
  const apart = [last.reasoning, last.reasoning_content].some((part) => typeof part === 'string' && part !== '')
  return { text: textOf(last.content), thinkingApart: apart }
}

function hasToolCalls(message: Message): boolean {
  return Array.isArray(message.tool_calls) && message.tool_calls.length > 0
}

function textOf(content: Message['content']): string {
  if (typeof content === 'string') return content
  return (content ?? []).map((part) => (typeof part.text === 'string' ? part.text : '')).join('')
}
