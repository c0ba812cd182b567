/**
 * Answers that a scorer must survive: hostile ones, which would run, hang, fill memory or break something if they were
 * read the way the library reads them, and the signs and garbage that mutants.ts makes wrong answers from.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A text, or its parts: a part with a count is repeated, and `{k}` in it is the number of the repetition. */
type PackedText = string | (string | [part: string, count: number])[]

interface HostileAnswers {
  exploits: Record<string, PackedText>
  garbage: PackedText[]
  /** Signs that some readers take for blanks, line ends, nothing, digits or operators, and others do not. */
  confusables: string[]
  /** What counts, cuts, turns and folds differently in code points and in UTF-16 units, or in one Unicode version and another. */
  codePointTraps: string[]
  /** The digit 0 in other scripts; the other digits follow it. */
  zeros: string
}

const { exploits, garbage, ...signs } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'hostile-answers.json'), 'utf8'),
) as HostileAnswers // a file of this package

export const SIGNS = signs
export const GARBAGE_ANSWERS = garbage.map(unpack)

export interface Exploit {
  name: string
  text: string
}

/** `marker`: a path that code would create; `port`: one on which a socket of it would be seen. */
export function buildExploits(marker: string, port: number): Exploit[] {
  return Object.entries(exploits).map(([name, packed]) => {
    const text = unpack(packed).replaceAll('{marker}', marker).replaceAll('{port}', String(port))
    return { name, text }
  })
}

function unpack(packed: PackedText): string {
  if (typeof packed === 'string') return packed
  const repeat = (part: string, count: number) =>
    part.includes('{k}')
      ? Array.from({ length: count }, (_, k) => part.replaceAll('{k}', String(k))).join('')
      : part.repeat(count)
  return packed.map((part) => (typeof part === 'string' ? part : repeat(...part))).join('')
}
