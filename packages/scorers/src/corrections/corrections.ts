/** The corrections of each task, one file each. A task that is not listed needs none: `npm run verify -- keys TASK` proves it. */
import { hasNovelConclusion } from '../hardened/propositional-logic.ts'
import type { DatasetEntry } from '../scorer.ts'
import type { Correction } from './correction.ts'

export const CORRECTIONS: Readonly<Record<string, Correction>> = {
  propositional_logic: {
    reason: 'Premises that contradict each other, or from which nothing new follows, leave no conclusion to find.',
    hasRightAnswer: hasNovelConclusion,
  },
}

/** Whether hardened scoring pays any answer to an item. Without one it teaches nothing, so a run with that scoring passes it over. */
export function isAnswerable(task: string, entry: DatasetEntry): boolean {
  return CORRECTIONS[task]?.hasRightAnswer?.(entry) ?? true
}

/** The sentence that settles the reading of an item's question; null where one reading is enough. */
export function getClarification(task: string, entry: DatasetEntry): string | null {
  return CORRECTIONS[task]?.clarification?.(entry) ?? null
}
