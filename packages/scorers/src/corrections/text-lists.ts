/** Corrections of tasks on lists of lists of words, where the library takes any JSON that it can iterate. */
import { z } from 'zod'
import type { Correction } from './correction.ts'

const TextLists = z.array(z.array(z.string()))

/** Undefined for anything but a list of lists of texts. */
function parseTextLists(answer: string): string[][] | undefined {
  try {
    return TextLists.safeParse(JSON.parse(answer)).data
  } catch {
    return undefined
  }
}

const Partitions = z.looseObject({ solution: TextLists })

export const palindromePartitioning: Correction = {
  reason: 'The question only permits all partitions, and the scorer takes repeated ones and strings for lists.',
  decide: () => (answer) => {
    const lists = parseTextLists(answer)
    if (lists === undefined) return false
    return new Set(lists.map((list) => JSON.stringify(list))).size === lists.length ? undefined : false
  },
  clarification: ({ metadata }) =>
    Partitions.parse(metadata).solution.length > 1 ? 'Note: list all possible partitions.' : undefined,
}

export const groupAnagrams: Correction = {
  reason: 'The scorer takes objects whose keys are the words for lists.',
  decide: () => (answer) => (parseTextLists(answer) === undefined ? false : undefined),
}
