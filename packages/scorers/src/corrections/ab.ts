/** ab: a program of which nothing is left has no final state that an answer could state. */
import type { Correction } from './correction.ts'

export const ab: Correction = {
  reason: 'Where all tokens vanish, the key is empty: no answer at all is right.',
  hasRightAnswer: ({ answer }) => answer !== '',
}
