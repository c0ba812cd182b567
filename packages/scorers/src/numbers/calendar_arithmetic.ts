/** A weekday, a count (e^(-5·relative error)) or yes and no, as the question asks. Rule of `reasoning_gym/arithmetic/calendar_arithmetic.py`. */
import { z } from 'zod'
import { PyValueError, parseInteger, ratioToFloat } from '../python/numbers.ts'
import { lower, strip, title } from '../python/text.ts'
import { defineScorer, InvalidAnswerError, requireOracleAnswer } from '../scorer.ts'

const WEEKDAYS = new Set(['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'])
const MAX_WEEKDAY_LENGTH = 'Wednesday'.length
const DECAY = -5

export const calendarArithmetic = defineScorer({
  metadata: z.looseObject({ task: z.string() }),
  score(answer, entry) {
    const oracle = requireOracleAnswer(entry)
    if (answer === '') return 0
    switch (entry.metadata.task) {
      case 'weekday_offset':
      case 'weekday_of_date_from_first_date':
      case 'weekday_of_date':
        return scoreWeekday(strip(answer), oracle)
      case 'count_business_days':
      case 'count_days':
      case 'recurring_event_day':
        return scoreCount(strip(answer), strip(oracle))
      case 'is_leap_year':
        return lower(strip(answer)) === lower(oracle) ? 1 : 0
      default:
        return 0
    }
  },
})

function scoreWeekday(answer: string, oracle: string): number {
  if (answer === oracle) return 1
  if (WEEKDAYS.has(answer)) return 0.1
  return answer.length <= MAX_WEEKDAY_LENGTH && WEEKDAYS.has(title(answer)) ? 0.05 : 0
}

/** The oracle may be -1, where errors raise the score: the library's own, and clamped by the caller. */
function scoreCount(answer: string, oracle: string): number {
  try {
    const [given, wanted] = [parseInteger(answer), parseInteger(oracle)]
    if (wanted === 0n) return given === 0n ? 1 : 0
    const off = given < wanted ? wanted - given : given - wanted
    const relative = wanted < 0n ? -ratioToFloat(off, -wanted) : ratioToFloat(off, wanted)
    const score = Math.exp(DECAY * relative)
    if (!Number.isFinite(relative) || !Number.isFinite(score)) throw new InvalidAnswerError('too large for a float')
    return score
  } catch (error) {
    if (error instanceof PyValueError) return 0
    throw error
  }
}
