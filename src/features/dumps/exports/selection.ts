/** Selects the rollouts of an export in a first pass over all groups. A second pass writes them. */
import { createHash } from 'node:crypto'
import type { ExportParams } from '@reasoning-gym-server/contract/export'
import type { DumpedGroup, DumpedRollout } from '../dump-record.ts'
import type { SourcedGroup } from './group-sources.ts'
import { splitConversation } from './lines.ts'

/** Indexes of rollouts in their group: a single one for a chat line, or chosen and rejected ones for a pair. */
export type RolloutSelection = [index: number] | [chosen: number, rejected: number]

interface Candidate {
  sourceKey: string
  selection: RolloutSelection
  reward: number
  /** Reward of the chosen rollout minus that of the rejected one, for a pair. */
  margin: number
  /** Hash of the conversations, to find duplicates. */
  contentHash: string
}

export interface ExportSelection {
  /** Selections, keyed by the source key of the group. */
  selections: Map<string, RolloutSelection[]>
  lines: number
  groups: number
}

/** Selects rollouts. Holds up to `max_per_item` candidates per item in memory, but no texts. */
export async function selectRollouts(
  source: AsyncIterable<SourcedGroup>,
  params: ExportParams,
): Promise<ExportSelection> {
  const items = new Map<string, Candidate[]>()
  let groups = 0
  for await (const { sourceKey, group } of source) {
    groups += 1
    const candidates = listCandidates(sourceKey, group, params)
    if (candidates.length === 0) continue
    const { task, config, seed, index } = group.recipe
    const item = shortHash(JSON.stringify([task, config, seed, index]))
    items.set(item, selectTopCandidates([...(items.get(item) ?? []), ...candidates], params))
  }
  const selections = new Map<string, RolloutSelection[]>()
  const seen = new Set<string>()
  let lines = 0
  for (const candidate of [...items.values()].flat()) {
    if (params.dedupe && seen.has(candidate.contentHash)) continue
    seen.add(candidate.contentHash)
    selections.set(candidate.sourceKey, [...(selections.get(candidate.sourceKey) ?? []), candidate.selection])
    lines += 1
  }
  return { selections, lines, groups }
}

function listCandidates(
  sourceKey: string,
  { rollouts }: DumpedGroup,
  { format, min_reward }: ExportParams,
): Candidate[] {
  if (format === 'dpo') {
    const pair = selectBestAndWorst(rollouts)
    if (!pair) return []
    const [chosen, rejected] = pair.map((index) => rollouts[index])
    if (!chosen || !rejected || chosen.score < min_reward) return []
    return [
      {
        sourceKey,
        selection: pair,
        reward: chosen.score,
        margin: chosen.score - rejected.score,
        contentHash: shortHash(JSON.stringify([chosen.conversation, rejected.conversation])),
      },
    ]
  }
  return rollouts.flatMap(({ score, conversation }, index): Candidate[] => {
    if (score < min_reward) return []
    return [
      {
        sourceKey,
        selection: [index],
        reward: score,
        margin: 0,
        contentHash: shortHash(JSON.stringify(conversation)),
      },
    ]
  })
}

/**
 * Returns undefined if all rewards are equal. Among the highest rewards it selects the shortest rollout, among the
 * lowest the first one.
 */
function selectBestAndWorst(rollouts: DumpedRollout[]): [number, number] | undefined {
  const indexes = [...rollouts.keys()].filter((k) => splitConversation(rollouts[k]?.conversation ?? [])[1].length > 0)
  const reward = (k: number) => rollouts[k]?.score ?? 0
  const length = (k: number) => rollouts[k]?.length_tokens ?? Number.POSITIVE_INFINITY
  const [best] = indexes.toSorted((a, b) => reward(b) - reward(a) || compareNumbers(length(a), length(b)) || a - b)
  const [worst] = indexes.toSorted((a, b) => reward(a) - reward(b) || a - b)
  if (best === undefined || worst === undefined || reward(best) <= reward(worst)) return undefined
  return haveSamePrompt(rollouts[best], rollouts[worst]) ? [best, worst] : undefined
}

/**
 * Whether two rollouts have the same prompt. Submitted conversations may differ in it; such a pair compares nothing.
 */
function haveSamePrompt(a: DumpedRollout | undefined, b: DumpedRollout | undefined): boolean {
  return (
    JSON.stringify(splitConversation(a?.conversation ?? [])[0]) ===
    JSON.stringify(splitConversation(b?.conversation ?? [])[0])
  )
}

function selectTopCandidates(candidates: Candidate[], { max_per_item, dedupe }: ExportParams): Candidate[] {
  const sorted = candidates.toSorted((a, b) => b.reward - a.reward || b.margin - a.margin)
  const seen = new Set<string>()
  const distinct = dedupe
    ? sorted.filter(({ contentHash }) => {
        const isNew = !seen.has(contentHash)
        seen.add(contentHash)
        return isNew
      })
    : sorted
  return distinct.slice(0, max_per_item)
}

function compareNumbers(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64').slice(0, 22)
}
