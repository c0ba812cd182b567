/** What the model is shown: the run's system prompt and the question. */
import type { PromptMessage } from '../../contract/item.ts'
import { RunSettings } from '../../contract/run.ts'

export type PromptSettings = Pick<RunSettings, 'system_prompt' | 'system_prompt_role'>

/** The prompt of items that belong to no run. */
export const DEFAULT_PROMPT_SETTINGS: PromptSettings = RunSettings.parse({})

export function buildPromptMessages(
  question: string,
  { system_prompt, system_prompt_role }: PromptSettings,
): PromptMessage[] {
  if (system_prompt === null) return [{ role: 'user', content: question }]
  if (system_prompt_role === 'user') return [{ role: 'user', content: `${system_prompt}\n\n${question}` }]
  return [
    { role: 'system', content: system_prompt },
    { role: 'user', content: question },
  ]
}
