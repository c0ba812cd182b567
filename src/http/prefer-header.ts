/** `Prefer: wait=N`: how long the caller wants the response to be held until it is ready. */
const MAX_WAIT_S = 60

/** Milliseconds to wait; 0 if the header is missing or invalid. */
export function parsePreferWaitMs(prefer: string | string[] | undefined): number {
  const seconds = /(?:^|[,;\s])wait\s*=\s*(\d{1,9})\s*(?:$|[,;])/i.exec([prefer].flat().join(','))?.[1]
  return seconds === undefined ? 0 : Math.min(Number(seconds), MAX_WAIT_S) * 1000
}
