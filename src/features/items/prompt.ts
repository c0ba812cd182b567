/** Builds what the model is shown: the run's system prompt and the question. */

import type { Item, PromptMessage } from '@reasoning-gym-server/contract/item'
import { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { z } from 'zod'

export const PromptSettings = z.strictObject({
  system_prompt: z.string().nullable(),
  system_prompt_role: z.enum(['system', 'user']),
}) satisfies z.ZodType<Pick<RunSettings, 'system_prompt' | 'system_prompt_role'>>
export type PromptSettings = z.infer<typeof PromptSettings>

/** The prompt settings of items that belong to no run. */
export const DEFAULT_PROMPT_SETTINGS: PromptSettings = PromptSettings.strip().parse(RunSettings.parse({}))

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

/** Returns the settings with which an item is shown. The inverse of buildPromptMessages. */
export function promptSettingsOf({ messages, question }: Pick<Item, 'messages' | 'question'>): PromptSettings {
  const [first] = messages
  if (first?.role === 'system') return { system_prompt: first.content, system_prompt_role: 'system' }
  const before = first?.content.slice(0, -`\n\n${question}`.length) ?? ''
  const system_prompt = first === undefined || first.content === question ? null : before
  return { system_prompt, system_prompt_role: 'user' }
}
