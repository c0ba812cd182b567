/** needle_haystack: of several people of whom the statements say the same, each is a right answer. */
import type { Correction } from './correction.ts'

const QUESTION_PATTERN = /\nWho (.+)\? Reply only with a name\.$/

export const needleHaystack: Correction = {
  reason: 'Of several people of whom the statements say what is asked for, only one is paid.',
  keys({ entry: { question } }) {
    const [, what = ''] = QUESTION_PATTERN.exec(question) ?? []
    const names = question
      .split('. ')
      .filter((statement) => statement.endsWith(` ${what}`))
      .map((statement) => statement.slice(0, -what.length - 1))
    return names.length > 1 ? names : undefined
  },
}
