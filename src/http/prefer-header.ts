/** `Prefer: wait=N`: how long a caller wants an answer to be held until it is ready. */
const MAX_WAIT_S = 60

/** Milliseconds to wait; 0 where the header says nothing readable. */
export function parsePreferWaitMs(prefer: string | string[] | undefined): number {
  const seconds = /(?:^|[,;\s])wait\s*=\s*(\d{1,9})\s*(?:$|[,;])/i.exec([prefer].flat().join(','))?.[1]
  return seconds === undefined ? 0 : Math.min(Number(seconds), MAX_WAIT_S) * 1000
}
