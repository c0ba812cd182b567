/** The words that word_ladder knows, by their length: `packages/scorers/src/data/word-ladder-words.json`, which `scripts/word-ladder-words.py` writes. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'

const wordSetsByLength = new Map<number, ReadonlySet<string>>()

/** Read at the first call; words of one length stand in one string without a sign between them. */
export function getLadderWords(length: number): ReadonlySet<string> {
  if (wordSetsByLength.size === 0) {
    const url = new URL('../data/word-ladder-words.json', import.meta.url)
    const joined = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(url, 'utf8')))
    for (const [size, words] of Object.entries(joined)) {
      wordSetsByLength.set(Number(size), new Set(words.match(new RegExp(`.{${Number(size)}}`, 'g'))))
    }
  }
  return wordSetsByLength.get(length) ?? new Set()
}
