/**
 * Which groups are dumped, and a group as one line of a dump: first the keys of the original environment, then ours.
 */
import { formatJsonLine } from '@reasoning-gym-server/codec/json-lines'
import type { DumpKind } from '@reasoning-gym-server/contract/dump'
import type { PromptMessage } from '@reasoning-gym-server/contract/item'
import { toRecipeOutput } from '@reasoning-gym-server/contract/recipe'
import type { Message } from '@reasoning-gym-server/contract/rollout'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import type { GroupResult } from '../../grading/group-advantages.ts'
import { buildTurnMessages } from '../../grading/tries.ts'
import type { GradedGroup } from '../rollouts/group-grading.ts'
import type { GroupTexts } from '../rollouts/group-payload.ts'

export interface DumpedRollout {
  conversation: Message[]
  /** The reward. */
  score: number
  raw_score: number
  advantage: number | null
  answer: string | null
  fault: string | null
  finish_reason: string | null
  length_tokens: number | null
}

/**
 * The content of a line. `rollouts` are the counted ones; short and unscored rollouts are left out, as in the original.
 */
export interface DumpedGroup {
  item_id: string
  rollouts: DumpedRollout[]
  group_id: string
  recipe: ReturnType<typeof toRecipeOutput>
  run: string
  difficulty: number | null
  policy_version: number | null
}

/** `prompt` is that of the group's item. */
export function buildDumpedGroup(
  { ref, metadata, texts, result }: Pick<GradedGroup, 'ref' | 'metadata' | 'texts' | 'result'>,
  prompt: PromptMessage[],
  retryPrompt: string,
): DumpedGroup {
  const { recipe } = metadata
  const rollouts = (texts?.rollouts ?? []).flatMap((rollout, k): DumpedRollout[] => {
    const verdict = result.verdicts[k]
    if (!verdict || !isCounted(verdict)) return []
    return [
      {
        conversation: buildConversation(prompt, rollout, verdict, retryPrompt),
        score: verdict.reward,
        raw_score: verdict.score,
        advantage: verdict.advantage,
        answer: verdict.answer,
        fault: verdict.fault,
        finish_reason: rollout.finish_reason ?? null,
        length_tokens: metadata.rollouts[k]?.length ?? null,
      },
    ]
  })
  return {
    item_id: recipe.task,
    rollouts,
    group_id: ref.group,
    recipe: toRecipeOutput(recipe),
    run: ref.run,
    difficulty: recipe.difficulty,
    policy_version: metadata.policy_version,
  }
}

export function encodeDumpLine(group: DumpedGroup): string {
  return formatJsonLine({
    ...group,
    rollouts: group.rollouts.map((rollout) => ({
      ...rollout,
      score: toFloatJson(rollout.score),
      raw_score: toFloatJson(rollout.raw_score),
      advantage: toFloatJson(rollout.advantage),
    })),
    difficulty: toFloatJson(group.difficulty),
  })
}

/** Builds the conversation from the prompt and the completion. Uses a submitted conversation unchanged. */
function buildConversation(
  prompt: PromptMessage[],
  { completion, messages = [], turns }: GroupTexts['rollouts'][number],
  verdict: GroupVerdict,
  retryPrompt: string,
): Message[] {
  if (turns) return [...prompt, ...buildTurnMessages(turns, verdict, retryPrompt)]
  if (completion !== undefined) return [...prompt, { role: 'assistant', content: completion }]
  const begins = messages[0]?.role
  return begins === 'assistant' || begins === 'tool' ? [...prompt, ...messages] : messages
}

/**
 * Formats a number so that every reader parses it as a float. Python's json and Arrow parse `1` as an integer, and
 * Arrow then rejects a 0.5 further down the column.
 */
export function toFloatJson(value: number | null): unknown {
  return value !== null && Number.isInteger(value) ? rawJson(`${value}.0`) : value
}

/** Part of ES2026. Node has it, but the compiler's library does not declare it yet. */
const rawJson = (JSON as unknown as { rawJSON(this: void, text: string): unknown }).rawJSON

export type DumpRules = Pick<RunSettings, 'dump_rollouts' | 'dump_failed_rollouts' | 'rollout_save_score_threshold'>

type CountedVerdict = Extract<GroupVerdict, { status: 'scored' }>

/**
 * Whether a rollout is scored and not skipped for being short. Only these rollouts decide where a group goes, and only
 * these are dumped.
 */
function isCounted(verdict: GroupVerdict): verdict is CountedVerdict {
  return verdict.status === 'scored' && verdict.skipped === undefined
}

/**
 * Selects the files that a group goes to. Failed groups are selected by scores: a penalty that removes the reward of a
 * correct answer is not a failure.
 */
export function selectDumpKinds({ status, verdicts }: GroupResult, rules: DumpRules): DumpKind[] {
  if (status !== 'scored') return []
  const counted = verdicts.filter(isCounted)
  const above = counted.some(({ reward }) => reward > rules.rollout_save_score_threshold)
  const failed = counted.length > 0 && counted.every(({ score }) => score === 0)
  const kinds: DumpKind[] = []
  if (rules.dump_rollouts === 'all' || (rules.dump_rollouts && above)) kinds.push('rollouts')
  if (rules.dump_failed_rollouts && failed) kinds.push('failed')
  return kinds
}
