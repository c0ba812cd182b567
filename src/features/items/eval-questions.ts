/**
 * The questions of all frozen suites, by hash. A run that is evaluated on the suites does not train on these questions.
 */
import { createHash } from 'node:crypto'
import { readSuiteLines, readSuiteManifest } from './suite-files.ts'

/**
 * Number of bytes kept of a question's SHA-256. Among a billion questions, about one in 1,500 million is taken for
 * another.
 */
const HASH_BYTES = 8

/** Hashes the exact text. Two questions that differ in a blank have different hashes. */
export function hashQuestion(question: string): string {
  return createHash('sha256').update(question).digest().toString('base64url', 0, HASH_BYTES)
}

export class EvalQuestions {
  #hashes: ReadonlySet<string> | undefined

  /** Whether a question belongs to a frozen suite. */
  hasHash(hash: string): boolean {
    this.#hashes ??= readHashes() // read at the first use, because many processes never make an item of such a run
    return this.#hashes.has(hash)
  }
}

function readHashes(): ReadonlySet<string> {
  const lines = readSuiteManifest().flatMap(readSuiteLines)
  return new Set(
    lines.map((line) => Buffer.from(line.split('\t')[1] ?? '', 'hex').toString('base64url', 0, HASH_BYTES)),
  )
}
