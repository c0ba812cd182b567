/** Shares runs of work between callers, where each caller needs a run that started after its call. */

/**
 * One run per key at a time. Callers that arrive during a run share the next one, which starts when it ends, so no caller gets
 * the result of a run that started before its call.
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
