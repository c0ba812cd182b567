/** Why a ploy may earn what it does: it is right by chance, and no rule can tell a right answer from a lucky one. */
import type { Find } from './search.ts'

/** More than the base rate by so much is noise. */
const NOISE = 0.005

const CHOICES: Readonly<Record<string, string>> = {}

/** Undefined where there is none. */
export function reasonFor({ task, mean, right, base }: Find): string | undefined {
  if (mean <= base + NOISE) return `base rate: the commonest right answer is right for ${(base * 100).toFixed(1)} %`
  const choice = CHOICES[task]
  return choice !== undefined && mean - right < NOISE ? `right by chance: ${choice}` : undefined
}
