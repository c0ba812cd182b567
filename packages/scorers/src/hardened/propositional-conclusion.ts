/** Searches for a conclusion that hardened scoring pays. Many items of the library have none: nothing new follows from them. */
import { z } from 'zod'
import type { DatasetEntry } from '../scorer.ts'
import { hardenedPropositionalLogic, MAX_VARIABLES } from './propositional-logic.ts'

const Metadata = z.looseObject({ variables: z.array(z.string()) })

/** Literals, then statements of two and three of them, the shortest first; undefined if none of them follows and is new. */
export function findNovelConclusion(entry: DatasetEntry): string | undefined {
  const score = hardenedPropositionalLogic({ entry, config: {}, upstream: () => 0 })
  for (const conclusion of listConclusions(Metadata.parse(entry.metadata).variables))
    if (score(conclusion) === 1) return conclusion
  return undefined
}

/** True where no search is made, since hardened scoring then goes by the library's verdict. */
export function hasNovelConclusion(entry: DatasetEntry): boolean {
  return Metadata.parse(entry.metadata).variables.length > MAX_VARIABLES || findNovelConclusion(entry) !== undefined
}

/** Whatever follows is a conjunction of clauses; those of more than three literals are left out. */
function* listConclusions(variables: readonly string[]): Generator<string> {
  const literals = variables.flatMap((name) => [name, `¬${name}`])
  yield* literals
  for (const [first, second] of listPairs(literals)) yield `(${first} ∨ ${second})`
  for (const [first, second] of listPairs(variables)) {
    yield `(${first} ↔ ${second})`
    yield `(${first} ↔ ¬${second})`
  }
  for (const [k, first] of literals.entries())
    for (const [second, third] of listPairs(literals.slice(k + 1))) yield `(${first} ∨ (${second} ∨ ${third}))`
}

function listPairs(values: readonly string[]): [string, string][] {
  return values.flatMap((first, k) => values.slice(k + 1).map((second): [string, string] => [first, second]))
}
