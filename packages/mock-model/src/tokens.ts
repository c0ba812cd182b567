/** A mock tokenizer: pieces of at most six characters, each with an ID and a log probability. */
import { hashToUnitInterval } from './seeded-random.ts'

const VOCABULARY_SIZE = 151_000
const TOKEN_PATTERN = /\s?[\p{L}\p{N}]{1,6}|\s?[^\s\p{L}\p{N}]|\s/gu

/** Splits a text into pieces, which joined give the text. */
export function tokenize(text: string): string[] {
  return text.match(TOKEN_PATTERN) ?? []
}

/** FNV-1a hash, so that equal pieces have equal IDs. */
export function getTokenId(piece: string): number {
  let hash = 0x811c9dc5
  for (let k = 0; k < piece.length; k++) hash = Math.imul(hash ^ piece.charCodeAt(k), 0x01000193)
  return (hash >>> 0) % VOCABULARY_SIZE
}

/** A negative log probability, mostly close to 0, as of a confident model. */
export function getTokenLogprob(seed: number, sample: number, position: number, piece: string): number {
  const draw = hashToUnitInterval(seed, sample, position, piece)
  return Number((Math.log(1 - 0.9 * draw ** 3) - 1e-4).toFixed(6))
}
