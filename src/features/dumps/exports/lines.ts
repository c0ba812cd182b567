/**
 * The lines of an export. Every line has the same columns with the same types, and none is ever null, so that Arrow and
 * what reads through it (datasets, pandas, polars) infers one schema whatever comes first.
 */

import { formatJsonLine } from '../../../codec/json-lines.ts'
import { encodeItemId } from '../../../contract/item-id.ts'
import type { Message } from '../../../contract/rollout.ts'
import { type DumpedGroup, type DumpedRollout, toFloatJson } from '../dump-record.ts'

/** The conversational form that trainers read: `messages`. */
export function encodeSftLine(group: DumpedGroup, rollout: DumpedRollout): string {
  const { conversation, score, raw_score } = rollout
  return encodeLine({
    messages: conversation,
    reward: toFloatJson(score),
    score: toFloatJson(raw_score),
    ...buildSharedColumns(group),
  })
}

/** The conversational form of preferences: `prompt`, `chosen`, `rejected`. */
export function encodeDpoLine(group: DumpedGroup, chosen: DumpedRollout, rejected: DumpedRollout): string {
  const [prompt, better] = splitConversation(chosen.conversation)
  const [, worse] = splitConversation(rejected.conversation)
  return encodeLine({
    prompt,
    chosen: better,
    rejected: worse,
    chosen_reward: toFloatJson(chosen.score),
    rejected_reward: toFloatJson(rejected.score),
    ...buildSharedColumns(group),
  })
}

/** What the model was shown and what came after: an assistant speaks first. */
export function splitConversation(conversation: Message[]): [prompt: Message[], response: Message[]] {
  const at = conversation.findIndex(({ role }) => role === 'assistant')
  return at < 0 ? [conversation, []] : [conversation.slice(0, at), conversation.slice(at)]
}

/** The recipe as text: its config has other fields for every task. */
function buildSharedColumns({ item_id, group_id, run, recipe }: DumpedGroup) {
  const id = encodeItemId({ ...recipe, difficulty: recipe.difficulty ?? null })
  return { task: item_id, item_id: id, group_id, run, recipe: JSON.stringify(recipe) }
}

/** A lone surrogate is not valid Unicode, and Arrow rejects the whole file because of it. */
function encodeLine(value: object): string {
  return formatJsonLine(value, (_key, part) => (typeof part === 'string' ? part.toWellFormed() : part))
}
