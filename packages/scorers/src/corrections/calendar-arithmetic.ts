/** calendar_arithmetic: leap years, years and the order of day and month, where the question leaves them open. */
import { z } from 'zod'
import type { Correction } from './correction.ts'

const DateText = z.union([z.string(), z.strictObject({ $date: z.string() }).transform((value) => value.$date)])
const Metadata = z.looseObject({
  task: z.string(),
  start_date: DateText.optional(),
  end_date: DateText.optional(),
  target_date: DateText.optional(),
})
const NUMERIC_DATE_PATTERN = /for (\d\d)\/(\d\d)\/(\d{4})\./
const DAY = 86_400_000

export const calendarArithmetic: Correction = {
  reason:
    'The question is silent on leap years, on the order of month and day, and on the year of an end in the next year.',
  clarification({ question, metadata }) {
    const { task, start_date: start, end_date: end, target_date: target } = Metadata.parse(metadata)
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
