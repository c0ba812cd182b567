/** time_intervals: the exact span between the two stamps of the question, and what the question leaves open. */
import { z } from 'zod'
import { requireOracleAnswer } from '../scorer.ts'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({ expected_format: z.string() })

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const DATE_PATTERN = new RegExp(
  [
    String.raw`(?<y1>\d{4})-(?<m1>\d\d)-(?<d1>\d\d)`,
    String.raw`(?<m2>\d\d)/(?<d2>\d\d)/(?<y2>\d{4})`,
    String.raw`(?<m3>[A-Z][a-z]{2})[a-z]* (?<d3>\d\d),? (?<y3>\d{4})`,
    String.raw`(?<d4>\d\d) (?<m4>[A-Z][a-z]{2})[a-z]* (?<y4>\d{4})`,
  ].join('|'),
  'g',
)
const TIME_PATTERN = /(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{3}))?)?/g
const ZONE_PATTERN = / ([+-])(\d\d)(\d\d)\b/g
const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000]
/** Questions about two moments and not about what lasts from day to day. */
const MOMENTS_PATTERN = /^(?:What is the duration|Calculate the time difference|How much time elapsed)/

export const timeIntervals: Correction = {
  reason:
    'Milliseconds are cut from a float, midnight is taken for the start of the day, the time and zone behind a ' +
    'weekday in brackets are left out, and an end in another zone may come before the start.',
  keys({ entry }) {
    const span = measureSpan(entry.question)
    if (Number.isNaN(span)) return undefined // a year before 1000
    const answer = formatSpan(span, Metadata.parse(entry.metadata).expected_format)
    return answer === requireOracleAnswer(entry) ? undefined : [answer]
  },
  hasRightAnswer: ({ question }) => !(measureSpan(question) < 0),
  clarification({ question, metadata }) {
    const { expected_format: wanted } = Metadata.parse(metadata)
    const span = measureSpan(question)
    const isRoundedUp = wanted.endsWith('HH:MM') && span % MINUTE >= MINUTE / 2
    const notes = [
      ...(isRightDayFirst(question, span) ? ['dates are written month/day/year'] : []),
      ...(wanted === 'D days' && !MOMENTS_PATTERN.test(question) ? ['the first day does not count'] : []),
      ...(isRoundedUp ? ['leave out the seconds, do not round'] : []),
      ...(question.includes(' between ') && isPastMidnight(question) ? ['the end is on the next day'] : []),
    ]
    return notes.length > 0 ? `Note: ${notes.join('; ')}.` : undefined
  },
}

/** Whether a date such as 03/04/2024 may also be the third of April, which gives another span. */
function isRightDayFirst(question: string, span: number): boolean {
  const other = question.replaceAll(/(\d\d)\/(\d\d)\/(\d{4})/g, '$2/$1/$3')
  return measureSpan(other) !== span && measureSpan(other) >= 0
}

/** Milliseconds between the stamps; NaN where one is no date. Without dates, an end before the start is on the next day. */
function measureSpan(question: string): number {
  const [start, end] = readStamps(question)
  return isPastMidnight(question) ? end - start + DAY : end - start
}

function isPastMidnight(question: string): boolean {
  const [start, end] = readStamps(question)
  return end < start && question.search(DATE_PATTERN) < 0
}

function readStamps(question: string): [start: number, end: number] {
  const days = [...question.matchAll(DATE_PATTERN)].map(({ groups = {} }) => readDay(groups))
  const times = [...question.matchAll(TIME_PATTERN)].map((parts) => readTime(parts))
  const zones = [...question.matchAll(ZONE_PATTERN)].map(([, sign, hours, minutes]) => {
    const offset = Number(hours) * HOUR + Number(minutes) * MINUTE
    return sign === '-' ? -offset : offset
  })
  const stamp = (k: number) => (days[k] ?? 0) + (times[k] ?? 0) - (zones[k] ?? 0)
  return [stamp(0), stamp(1)]
}

/** NaN for the 31st of April and its like. */
function readDay(groups: Readonly<Record<string, string | undefined>>): number {
  const pick = (part: string) => [1, 2, 3, 4].map((k) => groups[`${part}${k}`]).find((text) => text !== undefined) ?? ''
  const [year, month, day] = [Number(pick('y')), pick('m'), Number(pick('d'))]
  const index = /\d/.test(month) ? Number(month) - 1 : MONTHS.indexOf(month)
  const date = new Date(Date.UTC(year, index, day))
  return date.getUTCMonth() === index ? date.getTime() : Number.NaN
}

function readTime([, hours, minutes, seconds = '0', thousandths = '0']: readonly string[]): number {
  return Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * SECOND + Number(thousandths)
}

/** `D days`, `HH:MM` and their like: what the format has no room for is cut. */
function formatSpan(span: number, format: string): string {
  const days = format.includes('D') ? Math.floor(span / DAY) : 0
  const rest = span - days * DAY
  const pad = (value: number, length = 2) => String(Math.floor(value)).padStart(length, '0')
  return format
    .replace('D', String(days))
    .replace('HH', pad(rest / HOUR))
    .replace('MM', pad((rest % HOUR) / MINUTE))
    .replace('SS', pad((rest % MINUTE) / SECOND))
    .replace('mmm', pad(rest % SECOND, 3))
}
