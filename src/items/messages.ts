/** What the model is shown: the run's system prompt and the question. */
import type { PromptMessage } from '../words/item.ts'
import { RunSettings } from '../words/run.ts'

export type Prompt = Pick<RunSettings, 'system_prompt' | 'system_prompt_role'>

/** The prompt of items that belong to no run. */
export const DEFAULT_PROMPT: Prompt = RunSettings.parse({})

export function messagesFor(question: string, { system_prompt, system_prompt_role }: Prompt): PromptMessage[] {
  if (system_prompt === null) return [{ role: 'user', content: question }]
  if (system_prompt_role === 'user') return [{ role: 'user', content: `${system_prompt}\n\n${question}` }]
  return [
    { role: 'system', content: system_prompt },
    { role: 'user', content: question },
  ]
}
