/** The hash of a question's exact text. Two questions that differ in a blank have different hashes. */
import { createHash } from 'node:crypto'

/**
 * Number of bytes of a short hash. Among a billion questions, about one in 1,500 million is taken for another.
 */
const SHORT_HASH_BYTES = 8

/** Returns the SHA-256 in hex, as suites and results of evals have it. */
export function hashQuestion(question: string): string {
  return createHash('sha256').update(question).digest('hex')
}

/** Shortens a hash to 11 characters, for sets of many questions. */
export function shortenQuestionHash(hash: string): string {
  return Buffer.from(hash, 'hex').toString('base64url', 0, SHORT_HASH_BYTES)
}
