/**
 * The lines of an export. Every line has the same columns with the same types, and none is ever null, so that Arrow and
 * what reads through it (datasets, pandas, polars) infers one schema whatever comes first.
 */

import { jsonLine } from '../../json-lines.ts'
import { encodeItemId } from '../../words/item-id.ts'
import type { Message } from '../../words/rollout.ts'
import { asFloat, type DumpedGroup, type DumpedRollout } from '../record.ts'

/** The conversational form that trainers read: `messages`. */
export function sftLine(group: DumpedGroup, rollout: DumpedRollout): string {
  const { conversation, score, raw_score } = rollout
  return line({ messages: conversation, reward: asFloat(score), score: asFloat(raw_score), ...about(group) })
}

/** The conversational form of preferences: `prompt`, `chosen`, `rejected`. */
export function dpoLine(group: DumpedGroup, chosen: DumpedRollout, rejected: DumpedRollout): string {
  const [prompt, better] = split(chosen.conversation)
  const [, worse] = split(rejected.conversation)
  return line({
    prompt,
    chosen: better,
    rejected: worse,
    chosen_reward: asFloat(chosen.score),
    rejected_reward: asFloat(rejected.score),
    ...about(group),
  })
}

/** What the model was shown and what came after: an assistant speaks first. */
export function split(conversation: Message[]): [prompt: Message[], response: Message[]] {
  const at = conversation.findIndex(({ role }) => role === 'assistant')
  return at < 0 ? [conversation, []] : [conversation.slice(0, at), conversation.slice(at)]
}

/** The recipe as text: its config has other fields for every task. */
function about({ item_id, group_id, run, recipe }: DumpedGroup) {
  const id = encodeItemId({ ...recipe, difficulty: recipe.difficulty ?? null })
  return { task: item_id, item_id: id, group_id, run, recipe: JSON.stringify(recipe) }
}

/** Half a surrogate pair is no Unicode: Arrow refuses the whole file for it. */
function line(value: object): string {
  return jsonLine(value, (_key, part) => (typeof part === 'string' ? part.toWellFormed() : part))
}
