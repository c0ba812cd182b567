/** Builds what the model is shown: the run's system prompt, the question and its clarification. */

import type { Item, PromptMessage } from '@reasoning-gym-server/contract/item'
import { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { z } from 'zod'

export const PromptSettings = z.strictObject({
  system_prompt: z.string().nullable(),
  system_prompt_role: z.enum(['system', 'user']),
  clarify: z.boolean(),
}) satisfies z.ZodType<Pick<RunSettings, 'system_prompt' | 'system_prompt_role' | 'clarify'>>
export type PromptSettings = z.infer<typeof PromptSettings>

/** The prompt settings of items that belong to no run. */
export const DEFAULT_PROMPT_SETTINGS: PromptSettings = PromptSettings.strip().parse(RunSettings.parse({}))

export function buildPromptMessages(
  { question, clarification }: Pick<Item, 'question' | 'clarification'>,
  { system_prompt, system_prompt_role, clarify }: PromptSettings,
): PromptMessage[] {
  const shown = clarify && clarification !== null ? `${question}\n\n${clarification}` : question
  if (system_prompt === null) return [{ role: 'user', content: shown }]
  if (system_prompt_role === 'user') return [{ role: 'user', content: `${system_prompt}\n\n${shown}` }]
  return [
    { role: 'system', content: system_prompt },
    { role: 'user', content: shown },
  ]
}
