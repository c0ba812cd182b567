/** Finds the text to grade in a conversation: the last assistant message without tool calls. */
import type { Message } from '@reasoning-gym-server/contract/rollout'

const TEXT_PART_TYPES = new Set(['text', 'output_text', 'input_text'])
const REASONING_PART_TYPES = new Set(['reasoning', 'reasoning_text', 'thinking'])

/**
 * The text of the final message, and whether the message carries its reasoning separately (then the text contains none).
 * Undefined if the conversation has no such message.
 */
export function getFinalText(messages: Message[]): { text: string; hasSeparateReasoning: boolean } | undefined {
  const last = messages.findLast((message) => message.role === 'assistant' && !hasToolCalls(message))
  return last && { text: joinTextParts(last.content), hasSeparateReasoning: carriesReasoning(last) }
}

/** The reasoning that the final message carries separately, or undefined if there is none. */
export function getFinalReasoning(messages: Message[]): string | undefined {
  const last = messages.findLast((message) => message.role === 'assistant' && !hasToolCalls(message))
  if (!last) return undefined
  const field = [last.reasoning_content, last.reasoning].find((text) => typeof text === 'string' && text !== '')
  if (typeof field === 'string') return field
  if (!Array.isArray(last.content)) return undefined
  const parts = last.content.filter(({ type }) => REASONING_PART_TYPES.has(type))
  return parts.map((part) => toText(part.text ?? part[part.type])).join('') || undefined
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function hasToolCalls(message: Message): boolean {
  return Array.isArray(message.tool_calls) && message.tool_calls.length > 0
}

function carriesReasoning({ reasoning, reasoning_content, content }: Message): boolean {
  if ([reasoning, reasoning_content].some((field) => typeof field === 'string' && field !== '')) return true
  return Array.isArray(content) && content.some(({ type }) => REASONING_PART_TYPES.has(type))
}

function joinTextParts(content: Message['content']): string {
  if (typeof content === 'string') return content
  return (content ?? [])
    .map(({ type, text }) => (TEXT_PART_TYPES.has(type) && typeof text === 'string' ? text : ''))
    .join('')
}
