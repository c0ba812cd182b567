/** The words that word_ladder knows, by their length: `src/scorers/data/words.json`, which `scripts/words.py` writes. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'

const sets = new Map<number, ReadonlySet<string>>()

/** Read at the first call; words of one length stand in one string without a sign between them. */
export function ladderWords(length: number): ReadonlySet<string> {
  if (sets.size === 0) {
    const url = new URL('../data/words.json', import.meta.url)
    const joined = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(url, 'utf8')))
    for (const [size, words] of Object.entries(joined)) {
      sets.set(Number(size), new Set(words.match(new RegExp(`.{${Number(size)}}`, 'g'))))
    }
  }
  return sets.get(length) ?? new Set()
}
