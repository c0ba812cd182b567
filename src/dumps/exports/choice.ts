/** Which rollouts go into an export: a first reading of all groups decides, a second one writes. */
import { createHash } from 'node:crypto'
import type { ExportAsk } from '../../words/export.ts'
import type { DumpedGroup, DumpedRollout } from '../record.ts'
import { split } from './lines.ts'
import type { Sourced } from './sources.ts'

/** Rollouts of a group by their place in it: one for a chat line, chosen and rejected for a pair. */
export type Picked = [place: number] | [chosen: number, rejected: number]

interface Candidate {
  mark: string
  picked: Picked
  reward: number
  /** For a pair: how much better the chosen one is. */
  margin: number
  /** Of what was said, to find the same again. */
  said: string
}

export interface Choice {
  /** What to write of each group, by its mark. */
  picked: Map<string, Picked[]>
  lines: number
  groups: number
}

/** Keeps a few words for each line that is written and `max_per_item` for each item; no texts. */
export async function choose(source: AsyncIterable<Sourced>, ask: ExportAsk): Promise<Choice> {
  const items = new Map<string, Candidate[]>()
  let groups = 0
  for await (const { mark, group } of source) {
    groups += 1
    const candidates = candidatesOf(mark, group, ask)
    if (candidates.length === 0) continue
    const { task, config, seed, index } = group.recipe
    const item = hash(JSON.stringify([task, config, seed, index]))
    items.set(item, best([...(items.get(item) ?? []), ...candidates], ask))
  }
  const picked = new Map<string, Picked[]>()
  const said = new Set<string>()
  let lines = 0
  for (const candidate of [...items.values()].flat()) {
    if (ask.dedupe && said.has(candidate.said)) continue
    said.add(candidate.said)
    picked.set(candidate.mark, [...(picked.get(candidate.mark) ?? []), candidate.picked])
    lines += 1
  }
  return { picked, lines, groups }
}

function candidatesOf(mark: string, { rollouts }: DumpedGroup, { format, min_reward }: ExportAsk): Candidate[] {
  if (format === 'dpo') {
    const pair = bestAgainstWorst(rollouts)
    if (!pair) return []
    const [chosen, rejected] = pair.map((place) => rollouts[place])
    if (!chosen || !rejected || chosen.score < min_reward) return []
    const said = hash(JSON.stringify([chosen.conversation, rejected.conversation]))
    return [{ mark, picked: pair, reward: chosen.score, margin: chosen.score - rejected.score, said }]
  }
  return rollouts.flatMap(({ score, conversation }, place): Candidate[] => {
    if (score < min_reward) return []
    return [{ mark, picked: [place], reward: score, margin: 0, said: hash(JSON.stringify(conversation)) }]
  })
}

/** Undefined where nothing is better than anything else. Of equals the shorter is the best, the first the worst. */
function bestAgainstWorst(rollouts: DumpedRollout[]): [number, number] | undefined {
  const places = [...rollouts.keys()].filter((k) => split(rollouts[k]?.conversation ?? [])[1].length > 0)
  const reward = (k: number) => rollouts[k]?.score ?? 0
  const length = (k: number) => rollouts[k]?.length_tokens ?? Number.POSITIVE_INFINITY
  const [top] = places.toSorted((a, b) => reward(b) - reward(a) || compare(length(a), length(b)) || a - b)
  const [low] = places.toSorted((a, b) => reward(a) - reward(b) || a - b)
  if (top === undefined || low === undefined || reward(top) <= reward(low)) return undefined
  return samePrompt(rollouts[top], rollouts[low]) ? [top, low] : undefined
}

/** Conversations that were sent whole may begin differently; such a pair compares nothing. */
function samePrompt(a: DumpedRollout | undefined, b: DumpedRollout | undefined): boolean {
  return JSON.stringify(split(a?.conversation ?? [])[0]) === JSON.stringify(split(b?.conversation ?? [])[0])
}

function best(candidates: Candidate[], { max_per_item, dedupe }: ExportAsk): Candidate[] {
  const sorted = candidates.toSorted((a, b) => b.reward - a.reward || b.margin - a.margin)
  const said = new Set<string>()
  const distinct = dedupe
    ? sorted.filter((one) => {
        const fresh = !said.has(one.said)
        said.add(one.said)
        return fresh
      })
    : sorted
  return distinct.slice(0, max_per_item)
}

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64').slice(0, 22)
}
