/** The window of the rate limits: one minute of the clock, numbered the same in every process. */

export const MINUTE_MS = 60_000

/** The number of the minute that contains the time, since 1970. */
export function getMinute(time: number): number {
  return Math.floor(time / MINUTE_MS)
}
