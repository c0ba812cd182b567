/** What many ask for at once is read once. */
import { setImmediate as endOfTurn } from 'node:timers/promises'

/**
 * All who ask for one key in a turn of the event loop share one reading. It begins when the turn ends, so that each is told
 * what was there when they asked, or later.
 */
export function coalesceReads<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const toBegin = new Map<string, Promise<T>>()
  const begin = async (key: string): Promise<T> => {
    await endOfTurn()
    toBegin.delete(key)
    return read(key)
  }
  return (key) => {
    const reading = toBegin.get(key) ?? begin(key)
    toBegin.set(key, reading)
    return reading
  }
}
