/**
 * The frozen suites that the project ships, as a manifest and a file of lines `id TAB sha256(question)` for each suite,
 * and the hashes of their questions. A run that is evaluated on the suites does not train on these questions.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { type Suite, SuiteSummary } from '@reasoning-gym-server/contract/suite'
import { z } from 'zod'

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

const SUITES_FOLDER = join(import.meta.dirname, '..', '..', '..', 'suites')

export function readSuiteManifest(): SuiteSummary[] {
  return z.array(SuiteSummary).parse(JSON.parse(readFileSync(join(SUITES_FOLDER, 'suites.json'), 'utf8')))
}

/** Returns the lines of a suite. Throws if its file is not the one that the manifest describes. */
export function readSuiteLines({ name, sha256 }: SuiteSummary): string[] {
  const text = readFileSync(join(SUITES_FOLDER, `${name}.tsv`), 'utf8')
  if (createHash('sha256').update(text).digest('hex') !== sha256)
    throw new ServiceError('internal', `The hash of suites/${name}.tsv differs from the one in suites.json.`)
  return text.trimEnd().split('\n')
}

/** Returns the items of a suite in which a flaw was found after it was frozen. */
export function readStruckItems(suite: string): Suite['struck'] {
  const lines = readFileSync(join(SUITES_FOLDER, 'struck.tsv'), 'utf8').trimEnd().split('\n')
  return lines.flatMap((line) => {
    const [name, id = '', flaw] = line.split('\t')
    return name === suite ? [{ id, flaw: flaw as Suite['struck'][number]['flaw'] }] : [] // written by scripts/suites.ts
  })
}

export class EvalQuestions {
  #hashes: ReadonlySet<string> | undefined

  /** Whether the question with this short hash belongs to a frozen suite. */
  hasHash(hash: string): boolean {
    this.#hashes ??= readHashes() // read at the first use, because many processes never make an item of such a run
    return this.#hashes.has(hash)
  }
}

function readHashes(): ReadonlySet<string> {
  const lines = readSuiteManifest().flatMap(readSuiteLines)
  return new Set(lines.map((line) => shortenQuestionHash(line.split('\t')[1] ?? '')))
}
