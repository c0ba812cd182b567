/** mahjong_puzzle: the result of the last round follows from the hand and its card, not from what was drawn for it. */
import { z } from 'zod'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({
  rounds: z.array(z.looseObject({ add: z.string(), remove: z.string(), cards: z.string() })),
})

const RUNS = [
  [-2, -1],
  [-1, 1],
  [1, 2],
] as const

export const mahjongPuzzle: Correction = {
  reason: '“Pass” is said without a look at the card, “Chi” before “Peng”; equal cards hide a sequence.',
  keys({ entry }) {
    const last = Metadata.parse(entry.metadata).rounds.at(-1)
    if (last === undefined) return undefined
    // The cards after a round end with the new one.
    return [judgeCard(last.cards.slice(0, -1) + last.remove, last.add)]
  },
}

function judgeCard(hand: string, card: string): string {
  if (hand.split(card).length > 2) return 'Peng'
  const place = card.charCodeAt(0)
  const isRun = RUNS.some((steps) => steps.every((step) => hand.includes(String.fromCharCode(place + step))))
  return isRun ? 'Chi' : 'Pass'
}
