/** Names with their roles in any order; 0.3 to 1 where some of as many are right. Rule of `reasoning_gym/logic/knights_knaves.py`. */
import { z } from 'zod'
import { lower, splitWhitespace, strip } from '../python/text.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'

const ROLES = new Set(
  'knight knave pioneer laggard saint sinner hero villain angel devil altruist egoist sage fool'.split(' '),
)
const ARTICLES = new Set(['is', 'a', 'an'])

export const knightsKnaves = defineScorer({
  metadata: z.unknown(),
  score(answer, entry) {
    if (answer === '') return 0
    const [wanted, given] = [parseAssignments(requireOracleAnswer(entry)), parseAssignments(answer)]
    if (wanted.size !== given.size) return 0
    const right = wanted.intersection(given).size
    if (right === wanted.size) return 1
    return right > 0 ? 0.3 + (0.7 * right) / wanted.size : 0
  },
})

/** `name role` for each role that follows a word, which then is a name. */
function parseAssignments(text: string): Set<string> {
  const bare = strip(lower(text)).replaceAll(/[.,()]/g, ' ')
  const assignments = new Set<string>()
  let name: string | undefined
  for (const word of splitWhitespace(bare.replaceAll(' and ', ' '))) {
    if (ARTICLES.has(word)) continue
    if (!ROLES.has(word)) {
      name = word
    } else if (name !== undefined) {
      assignments.add(`${name} ${word}`)
      name = undefined
    }
  }
  return assignments
}
