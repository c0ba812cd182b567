/** The questions of all frozen suites, by hash: what a run that is evaluated on them does not train on. */
import { createHash } from 'node:crypto'
import { readSuiteLines, readSuiteManifest } from './suite-files.ts'

/** Bytes of a question's SHA-256 that tell it from others: among a billion questions, one in 1,500 million is mistaken. */
const HASH_BYTES = 8

/** Of the exact text: two questions that differ in a blank are two. */
export function hashQuestion(question: string): string {
  return createHash('sha256').update(question).digest().toString('base64url', 0, HASH_BYTES)
}

export class EvalQuestions {
  #hashes: ReadonlySet<string> | undefined

  /** Whether a question stands in a frozen suite. */
  hasHash(hash: string): boolean {
    this.#hashes ??= readHashes() // at the first use: many processes never make an item of such a run
    return this.#hashes.has(hash)
  }
}

function readHashes(): ReadonlySet<string> {
  const lines = readSuiteManifest().flatMap(readSuiteLines)
  return new Set(
    lines.map((line) => Buffer.from(line.split('\t')[1] ?? '', 'hex').toString('base64url', 0, HASH_BYTES)),
  )
}
