/** A span of time, less by its share of the longest one for being off. Rule of `reasoning_gym/arithmetic/time_intervals.py`. */
import { z } from 'zod'
import { PyValueError, parseInteger, ratioToFloat } from '../python/numbers.ts'
import { splitWhitespace, strip } from '../python/text.ts'
import { defineScorer, InvalidAnswerError, requireOracleAnswer } from '../scorer.ts'

const LongestSpanConfig = z.looseObject({
  max_time_difference_seconds: z.number(),
  max_date_difference_days: z.number(),
})
const SECONDS_PER_DAY = 86400n

/** An int or, with milliseconds, a float, as Python has it. */
type Seconds = bigint | number

export const timeIntervals = defineScorer({
  metadata: z.looseObject({ task_type: z.string() }),
  score(answer, entry, config) {
    const oracle = requireOracleAnswer(entry)
    const longest = LongestSpanConfig.parse(config)
    const days = BigInt(longest.max_date_difference_days)
    try {
      if (entry.metadata.task_type === 'date') return getCloseness(parseDays(answer), parseDays(oracle), days)
      if (!entry.metadata.task_type.startsWith('time'))
        return getCloseness(parseTimeSpan(answer), parseTimeSpan(oracle), days * SECONDS_PER_DAY)
      return getCloseness(parseTime(answer), parseTime(oracle), BigInt(longest.max_time_difference_seconds))
    } catch (error) {
      if (error instanceof PyValueError) return 0
      throw error
    }
  },
})

/** `12 days` */
function parseDays(text: string): bigint {
  return parseInteger(requirePart(splitWhitespace(text), 0))
}

/** `HH:MM`, `HH:MM:SS` or `HH:MM:SS.mmm`, where what follows the point counts thousandths whatever its length. */
function parseTime(text: string): Seconds {
  const parts = strip(text).split(':')
  const minutes = parseInteger(requirePart(parts, 0)) * 3600n + parseInteger(requirePart(parts, 1)) * 60n
  if (parts.length < 3) return minutes
  const seconds = requirePart(parts, 2).split('.')
  if (seconds.length > 2) throw new PyValueError('two points')
  const whole = parseInteger(requirePart(seconds, 0))
  if (seconds.length === 1) return minutes + whole
  const thousandths = requireFinite(ratioToFloat(parseInteger(requirePart(seconds, 1)), 1000n))
  return toFloat(minutes) + (toFloat(whole) + thousandths)
}

/** `12 days, HH:MM` or `12 days, HH:MM:SS` */
function parseTimeSpan(text: string): bigint {
  const days = parseInteger(requirePart(text.split(' days,', 1), 0))
  const parts = strip(requirePart(text.split(','), 1)).split(':')
  const minutes = parseInteger(requirePart(parts, 0)) * 3600n + parseInteger(requirePart(parts, 1)) * 60n
  return days * SECONDS_PER_DAY + minutes + (parts.length > 2 ? parseInteger(requirePart(parts, 2)) : 0n)
}

function getCloseness(given: Seconds, wanted: Seconds, longest: bigint): number {
  if (given >= wanted && given <= wanted) return 1
  return Math.max(0, 1 - getRelativeError(given, wanted, longest))
}

function getRelativeError(given: Seconds, wanted: Seconds, longest: bigint): number {
  if (typeof given === 'bigint' && typeof wanted === 'bigint') {
    return requireFinite(ratioToFloat(given < wanted ? wanted - given : given - wanted, longest))
  }
  return Math.abs(toFloat(given) - toFloat(wanted)) / Number(longest)
}

/** Only an int can be too large here; a float may be infinite. */
function toFloat(value: Seconds): number {
  return typeof value === 'bigint' ? requireFinite(Number(value)) : value
}

function requireFinite(value: number): number {
  if (!Number.isFinite(value)) throw new InvalidAnswerError('too large for a float')
  return value
}

/** Python's IndexError counts as ValueError here. */
function requirePart(parts: readonly string[], index: number): string {
  const found = parts[index]
  if (found === undefined) throw new PyValueError('a part is missing')
  return found
}
