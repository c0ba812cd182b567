/**
 * Encodes the lines of an export. Every line has the same columns with the same types, and no value is null, so that
 * Arrow and its users (datasets, pandas, polars) infer the same schema from any first line.
 */

import { formatJsonLine } from '@reasoning-gym-server/codec/json-lines'
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { Message } from '@reasoning-gym-server/contract/rollout'
import { type DumpedGroup, type DumpedRollout, toFloatJson } from '../dump-record.ts'

/** Encodes the conversational form that trainers read: `messages`. */
export function encodeSftLine(group: DumpedGroup, rollout: DumpedRollout): string {
  const { conversation, score, raw_score } = rollout
  return encodeLine({
    messages: conversation,
    reward: toFloatJson(score),
    score: toFloatJson(raw_score),
    ...buildSharedColumns(group),
  })
}

/** Encodes the conversational form of preferences: `prompt`, `chosen`, `rejected`. */
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

/** Splits a conversation into the prompt and the response, which starts with the first message of the assistant. */
export function splitConversation(conversation: Message[]): [prompt: Message[], response: Message[]] {
  const at = conversation.findIndex(({ role }) => role === 'assistant')
  return at < 0 ? [conversation, []] : [conversation.slice(0, at), conversation.slice(at)]
}

/** The recipe is stored as text, because the fields of its config differ between tasks. */
function buildSharedColumns({ item_id, group_id, run, recipe }: DumpedGroup) {
  const id = encodeItemId({ ...recipe, difficulty: recipe.difficulty ?? null })
  return { task: item_id, item_id: id, group_id, run, recipe: JSON.stringify(recipe) }
}

/** Replaces lone surrogates. They are not valid Unicode, and Arrow rejects the whole file because of one. */
function encodeLine(value: object): string {
  return formatJsonLine(value, (_key, part) => (typeof part === 'string' ? part.toWellFormed() : part))
}
