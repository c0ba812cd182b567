/** A span of time, less by its share of the longest one for being off. Rule of `reasoning_gym/arithmetic/time_intervals.py`. */
import { z } from 'zod'
import { oracleOf } from '../oracle.ts'
import { PyValueError, parseInteger, ratioToFloat } from '../python/numbers.ts'
import { split, strip } from '../python/text.ts'
import { defineScorer, InvalidAnswer } from '../scorer.ts'

const Longest = z.looseObject({ max_time_difference_seconds: z.number(), max_date_difference_days: z.number() })
const DAY = 86400n

/** An int or, with milliseconds, a float, as Python has it. */
type Seconds = bigint | number

export const timeIntervals = defineScorer({
  metadata: z.looseObject({ task_type: z.string() }),
  score(answer, entry, config) {
    const oracle = oracleOf(entry)
    const longest = Longest.parse(config)
    const days = BigInt(longest.max_date_difference_days)
    try {
      if (entry.metadata.task_type === 'date') return closeness(daysOf(answer), daysOf(oracle), days)
      if (!entry.metadata.task_type.startsWith('time')) return closeness(spanOf(answer), spanOf(oracle), days * DAY)
      return closeness(timeOf(answer), timeOf(oracle), BigInt(longest.max_time_difference_seconds))
    } catch (error) {
      if (error instanceof PyValueError) return 0
      throw error
    }
  },
})

/** `12 days` */
function daysOf(text: string): bigint {
  return parseInteger(part(split(text), 0))
}

/** `HH:MM`, `HH:MM:SS` or `HH:MM:SS.mmm`, where what follows the point counts thousandths whatever its length. */
function timeOf(text: string): Seconds {
  const parts = strip(text).split(':')
  const minutes = parseInteger(part(parts, 0)) * 3600n + parseInteger(part(parts, 1)) * 60n
  if (parts.length < 3) return minutes
  const seconds = part(parts, 2).split('.')
  if (seconds.length > 2) throw new PyValueError('two points')
  const whole = parseInteger(part(seconds, 0))
  if (seconds.length === 1) return minutes + whole
  const thousandths = finite(ratioToFloat(parseInteger(part(seconds, 1)), 1000n))
  return toFloat(minutes) + (toFloat(whole) + thousandths)
}

/** `12 days, HH:MM` or `12 days, HH:MM:SS` */
function spanOf(text: string): bigint {
  const days = parseInteger(part(text.split(' days,', 1), 0))
  const parts = strip(part(text.split(','), 1)).split(':')
  const minutes = parseInteger(part(parts, 0)) * 3600n + parseInteger(part(parts, 1)) * 60n
  return days * DAY + minutes + (parts.length > 2 ? parseInteger(part(parts, 2)) : 0n)
}

function closeness(given: Seconds, wanted: Seconds, longest: bigint): number {
  if (given >= wanted && given <= wanted) return 1
  return Math.max(0, 1 - offBy(given, wanted, longest))
}

function offBy(given: Seconds, wanted: Seconds, longest: bigint): number {
  if (typeof given === 'bigint' && typeof wanted === 'bigint') {
    return finite(ratioToFloat(given < wanted ? wanted - given : given - wanted, longest))
  }
  return Math.abs(toFloat(given) - toFloat(wanted)) / Number(longest)
}

/** Only an int can be too large here; a float may be infinite. */
function toFloat(value: Seconds): number {
  return typeof value === 'bigint' ? finite(Number(value)) : value
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new InvalidAnswer('too large for a float')
  return value
}

/** Python's IndexError counts as ValueError here. */
function part(parts: readonly string[], index: number): string {
  const found = parts[index]
  if (found === undefined) throw new PyValueError('a part is missing')
  return found
}
