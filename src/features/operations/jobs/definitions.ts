/** The schedules of operations. */
import type { Schedule } from '../../../platform/queue/schedules.ts'

/** Appends a point to the series of the last hour. */
export const appendHourlyPointSchedule: Schedule = { name: 'append-hourly-point', everyMs: 10_000 }
