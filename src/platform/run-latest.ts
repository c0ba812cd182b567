/** Work that has to take in what was there when it was asked for, and that one run at a time does for all who ask. */

/**
 * One run for each key at a time. Callers that come while one is under way share the next, which begins when it ends: so
 * nobody gets the result of a run that began before the call.
 */
export function runLatest<A, T>(work: (argument: A) => Promise<T>): (key: string, argument: A) => Promise<T> {
  const current = new Map<string, Promise<unknown>>()
  const next = new Map<string, Promise<T>>()
  const start = async (key: string, argument: A): Promise<T> => {
    await current.get(key)
    next.delete(key)
    const running = work(argument)
    const ended = () => void current.delete(key)
    current.set(key, running.then(ended, ended))
    return running
  }
  return (key, argument) => {
    const shared = next.get(key) ?? start(key, argument)
    next.set(key, shared)
    return shared
  }
}
