/** A tokenizer for show: pieces of at most six characters, each with an id and a log probability of its own. */
import { hashToUnitInterval } from './seeded-random.ts'

const VOCABULARY_SIZE = 151_000
const TOKEN_PATTERN = /\s?[\p{L}\p{N}]{1,6}|\s?[^\s\p{L}\p{N}]|\s/gu

/** Joined, the pieces are the text. */
export function tokenize(text: string): string[] {
  return text.match(TOKEN_PATTERN) ?? []
}

/** FNV-1a: equal pieces have equal ids. */
export function getTokenId(piece: string): number {
  let hash = 0x811c9dc5
  for (let k = 0; k < piece.length; k++) hash = Math.imul(hash ^ piece.charCodeAt(k), 0x01000193)
  return (hash >>> 0) % VOCABULARY_SIZE
}

/** Below 0, mostly near it, as a sure model's are. */
export function getTokenLogprob(seed: number, sample: number, position: number, piece: string): number {
  const draw = hashToUnitInterval(seed, sample, position, piece)
  return Number((Math.log(1 - 0.9 * draw ** 3) - 1e-4).toFixed(6))
}
