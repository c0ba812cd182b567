/** Which rollouts go into an export: a first reading of all groups decides, a second one writes. */
import { createHash } from 'node:crypto'
import type { ExportParams } from '../../../contract/export.ts'
import type { DumpedGroup, DumpedRollout } from '../dump-record.ts'
import { splitConversation } from './lines.ts'
import type { SourcedGroup } from './sources.ts'

/** Rollouts of a group by their place in it: one for a chat line, chosen and rejected for a pair. */
export type RolloutSelection = [place: number] | [chosen: number, rejected: number]

interface Candidate {
  sourceKey: string
  selection: RolloutSelection
  reward: number
  /** For a pair: how much better the chosen one is. */
  margin: number
  /** Of what was said, to find the same again. */
  contentHash: string
}

export interface ExportSelection {
  /** What to write of each group, by its mark. */
  selections: Map<string, RolloutSelection[]>
  lines: number
  groups: number
}

/** Keeps a few words for each line that is written and `max_per_item` for each item; no texts. */
export async function selectRollouts(source: AsyncIterable<SourcedGroup>, ask: ExportParams): Promise<ExportSelection> {
  const items = new Map<string, Candidate[]>()
  let groups = 0
  for await (const { sourceKey: mark, group } of source) {
    groups += 1
    const candidates = listCandidates(mark, group, ask)
    if (candidates.length === 0) continue
    const { task, config, seed, index } = group.recipe
    const item = shortHash(JSON.stringify([task, config, seed, index]))
    items.set(item, selectTopCandidates([...(items.get(item) ?? []), ...candidates], ask))
  }
  const picked = new Map<string, RolloutSelection[]>()
  const said = new Set<string>()
  let lines = 0
  for (const candidate of [...items.values()].flat()) {
    if (ask.dedupe && said.has(candidate.contentHash)) continue
    said.add(candidate.contentHash)
    picked.set(candidate.sourceKey, [...(picked.get(candidate.sourceKey) ?? []), candidate.selection])
    lines += 1
  }
  return { selections: picked, lines, groups }
}

function listCandidates(mark: string, { rollouts }: DumpedGroup, { format, min_reward }: ExportParams): Candidate[] {
  if (format === 'dpo') {
    const pair = selectBestAndWorst(rollouts)
    if (!pair) return []
    const [chosen, rejected] = pair.map((place) => rollouts[place])
    if (!chosen || !rejected || chosen.score < min_reward) return []
    const said = shortHash(JSON.stringify([chosen.conversation, rejected.conversation]))
    return [
      {
        sourceKey: mark,
        selection: pair,
        reward: chosen.score,
        margin: chosen.score - rejected.score,
        contentHash: said,
      },
    ]
  }
  return rollouts.flatMap(({ score, conversation }, place): Candidate[] => {
    if (score < min_reward) return []
    return [
      {
        sourceKey: mark,
        selection: [place],
        reward: score,
        margin: 0,
        contentHash: shortHash(JSON.stringify(conversation)),
      },
    ]
  })
}

/** Undefined where nothing is better than anything else. Of equals the shorter is the best, the first the worst. */
function selectBestAndWorst(rollouts: DumpedRollout[]): [number, number] | undefined {
  const places = [...rollouts.keys()].filter((k) => splitConversation(rollouts[k]?.conversation ?? [])[1].length > 0)
  const reward = (k: number) => rollouts[k]?.score ?? 0
  const length = (k: number) => rollouts[k]?.length_tokens ?? Number.POSITIVE_INFINITY
  const [top] = places.toSorted((a, b) => reward(b) - reward(a) || compareNumbers(length(a), length(b)) || a - b)
  const [low] = places.toSorted((a, b) => reward(a) - reward(b) || a - b)
  if (top === undefined || low === undefined || reward(top) <= reward(low)) return undefined
  return haveSamePrompt(rollouts[top], rollouts[low]) ? [top, low] : undefined
}

/** Conversations that were sent whole may begin differently; such a pair compares nothing. */
function haveSamePrompt(a: DumpedRollout | undefined, b: DumpedRollout | undefined): boolean {
  return (
    JSON.stringify(splitConversation(a?.conversation ?? [])[0]) ===
    JSON.stringify(splitConversation(b?.conversation ?? [])[0])
  )
}

function selectTopCandidates(candidates: Candidate[], { max_per_item, dedupe }: ExportParams): Candidate[] {
  const sorted = candidates.toSorted((a, b) => b.reward - a.reward || b.margin - a.margin)
  const said = new Set<string>()
  const distinct = dedupe
    ? sorted.filter((one) => {
        const fresh = !said.has(one.contentHash)
        said.add(one.contentHash)
        return fresh
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
