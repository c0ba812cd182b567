/** What a hardened rule is: made once for an item, it scores any answer to it. */
import type { Entry, FullConfig } from '../scorer.ts'

export interface Item {
  entry: Entry
  config: FullConfig
  /** The library's score of any text, before clamping; throws InvalidAnswer where the library raises. */
  upstream: (text: string) => number
}

export type Hardening = (item: Item) => (answer: string) => number

/** Above this a score is 1 but for the last digits of a float. */
const NEARLY_ONE = 1 - 1e-9

export function isWhole(score: number): boolean {
  return score >= NEARLY_ONE
}
