/** Whether hardened scoring pays any answer to an item. Without one it teaches nothing, so a run with that scoring passes it over. */
import type { DatasetEntry } from '../scorer.ts'
import { hasNovelConclusion } from './propositional-conclusion.ts'

const CHECKS: Readonly<Record<string, (entry: DatasetEntry) => boolean>> = {
  propositional_logic: hasNovelConclusion,
}

export function isAnswerable(task: string, entry: DatasetEntry): boolean {
  return CHECKS[task]?.(entry) ?? true
}
