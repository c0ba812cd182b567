/** Corrections of dates and times: what questions leave open, and the exact span between two stamps. */
import { z } from 'zod'
import { requireOracleAnswer } from '../scorer.ts'
import type { Correction } from './correction.ts'

const DateText = z.union([z.string(), z.strictObject({ $date: z.string() }).transform((value) => value.$date)])
const CalendarMetadata = z.looseObject({
  task: z.string(),
  start_date: DateText.optional(),
  end_date: DateText.optional(),
  target_date: DateText.optional(),
})
const NUMERIC_DATE_PATTERN = /for (\d\d)\/(\d\d)\/(\d{4})\./
const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000]

export const calendarArithmetic: Correction = {
  reason:
    'The question is silent on leap years, on the order of month and day, and on the year of an end in the next year.',
  clarification({ question, metadata }) {
    const { task, start_date: start, end_date: end, target_date: target } = CalendarMetadata.parse(metadata)
    if (task === 'weekday_of_date_from_first_date') return clarifyLeapYear(target ?? '')
    if (task === 'count_business_days') return clarifyYears(start ?? '', end ?? '')
    return isDayFirstAnotherDay(question) ? 'Note: the date is month/day/year.' : undefined
  },
}

/** Until February, and on its 29th day, all years that can be meant are alike. */
function clarifyLeapYear(target: string): string | undefined {
  const [year, month] = target.split('-').map(Number)
  if (year === undefined || month === undefined || month <= 2) return undefined
  return `Note: the year is ${isLeapYear(year) ? '' : 'not '}a leap year.`
}

/** The question gives the end the year of the start. */
function clarifyYears(start: string, end: string): string | undefined {
  const [first, last] = [start.split('-')[0], end.split('-')[0]]
  return first === last ? undefined : `Note: the first date is in ${first} and the second one in ${last}.`
}

function isDayFirstAnotherDay(question: string): boolean {
  const [, month, day, year] = (NUMERIC_DATE_PATTERN.exec(question) ?? []).map(Number)
  if (year === undefined || month === undefined || day === undefined || day > 12) return false
  return ((Date.UTC(year, month - 1, day) - Date.UTC(year, day - 1, month)) / DAY) % 7 !== 0
}

function isLeapYear(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
}

const SpanFormat = z.looseObject({ expected_format: z.string() })

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
/** Questions about two moments and not about what lasts from day to day. */
const MOMENTS_PATTERN = /^(?:What is the duration|Calculate the time difference|How much time elapsed)/

export const timeIntervals: Correction = {
  reason:
    'Milliseconds are cut from a float, midnight is taken for the start of the day, the time and zone behind a ' +
    'weekday in brackets are left out, and an end in another zone may come before the start.',
  keys({ entry }) {
    const span = measureSpan(entry.question)
    if (Number.isNaN(span)) return undefined // a year before 1000
    const answer = formatSpan(span, SpanFormat.parse(entry.metadata).expected_format)
    return answer === requireOracleAnswer(entry) ? undefined : [answer]
  },
  hasRightAnswer: ({ question }) => !(measureSpan(question) < 0),
  clarification({ question, metadata }) {
    const { expected_format: wanted } = SpanFormat.parse(metadata)
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
