/** Builds the view of a retained group: its result, and its texts whole or shortened. */
import type { FormatErrorExample, RetainedGroup } from '@reasoning-gym-server/contract/retained-group'
import { getFinalReasoning, getFinalText } from '../../grading/answer-extraction.ts'
import type { GroupMetadata, GroupTexts } from './group-payload.ts'
import type { GroupRef } from './records.ts'
import type { GroupRepository, StoredGroup } from './repository.ts'

const EXCERPT_CHARS = 300
/** Size above which examples are cut even if whole texts are requested, because a page has dozens of them. */
const MAX_FULL_EXAMPLE_BYTES = 1024 * 1024

export interface LoadedGroup {
  ref: GroupRef
  /** Number of the group in order of completion. */
  position: number
  stored: StoredGroup & { metadata: GroupMetadata }
  /** Rollouts that a search found. */
  matches?: number[]
}

/** A rollout that shows a format error. */
export interface ExampleRef {
  group: LoadedGroup
  rollout: number
}

export async function buildRetainedGroup(
  groups: GroupRepository,
  { ref, stored, matches }: Omit<LoadedGroup, 'position'>,
  full: boolean,
): Promise<RetainedGroup> {
  const { metadata, result, status } = stored
  const { task, difficulty } = metadata.recipe
  const texts = await groups.getTexts(ref)
  return {
    group_id: ref.group,
    run: ref.run,
    item_id: metadata.item_id,
    task,
    difficulty,
    ...(result
      ? { ...result, verdicts: full ? result.verdicts : result.verdicts.map(shortenVerdict) }
      : { status, destination: null }),
    policy_version: metadata.policy_version,
    completions:
      texts?.rollouts.map((rollout, k) => {
        const reasoning = full ? getReasoning(rollout) : undefined
        return {
          ...createExcerpt(getCompletionText(rollout), full),
          length_tokens: metadata.rollouts[k]?.length ?? null,
          finish_reason: rollout.finish_reason ?? null,
          ...(reasoning !== undefined && { reasoning }),
        }
      }) ?? null,
    ...(matches && { matches }),
  }
}

export async function loadExample(
  groups: GroupRepository,
  { group, rollout }: ExampleRef,
  full: boolean,
): Promise<FormatErrorExample | undefined> {
  const { ref, stored } = group
  const isWhole = full && getTextBytes(group) <= MAX_FULL_EXAMPLE_BYTES
  const texts = (await groups.getTexts(ref))?.rollouts[rollout]
  return (
    texts && {
      group_id: ref.group,
      task: stored.metadata.recipe.task,
      rollout,
      ...createExcerpt(getCompletionText(texts), isWhole),
    }
  )
}

/** Positions of the rollouts whose completion or reasoning contains `lowerCase`. */
export async function findRollouts(groups: GroupRepository, ref: GroupRef, lowerCase: string): Promise<number[]> {
  const rollouts = (await groups.getTexts(ref))?.rollouts ?? []
  const contains = (text: string | undefined) => text?.toLowerCase().includes(lowerCase) === true
  return rollouts.flatMap((rollout, k) =>
    contains(getCompletionText(rollout)) || contains(getReasoning(rollout)) ? [k] : [],
  )
}

export function getTextBytes({ stored: { metadata } }: LoadedGroup): number {
  return metadata.text_bytes
}

/** Keeps the start and the end of a long text, because the answer is at the end. */
function createExcerpt(text: string, full: boolean): { text: string; cut: boolean } {
  if (full || text.length <= EXCERPT_CHARS) return { text, cut: false }
  const half = EXCERPT_CHARS / 2
  return { text: `${text.slice(0, half)} … ${text.slice(-half)}`.toWellFormed(), cut: true }
}

function getCompletionText({ completion, messages }: GroupTexts['rollouts'][number]): string {
  return completion ?? getFinalText(messages ?? [])?.text ?? ''
}

function getReasoning({ messages }: GroupTexts['rollouts'][number]): string | undefined {
  return messages && getFinalReasoning(messages)
}

type RetainedVerdict = NonNullable<RetainedGroup['verdicts']>[number]

function shortenVerdict(verdict: RetainedVerdict): RetainedVerdict {
  if (verdict.status !== 'scored' || verdict.answer === null) return verdict
  return { ...verdict, answer: createExcerpt(verdict.answer, false).text }
}
