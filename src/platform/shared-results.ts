/** Functions whose results callers share: those of the next run, or those for the same object. */
import { setImmediate as endOfTurn } from 'node:timers/promises'

interface ShareOptions<A> {
  /** Calls with equal keys share a run, which gets the argument of the first of them. */
  keyOf: (argument: A) => string
  /** If true, the next run of a key starts when the current one has ended. If false, runs may overlap. */
  oneAtATime?: boolean
}

/** All calls for one key in the same turn of the event loop, or during a run that must end first, share the next run. */
export function shareNextRun<A, T>(
  work: (argument: A) => Promise<T>,
  { keyOf, oneAtATime = false }: ShareOptions<A>,
): (argument: A) => Promise<T> {
  const current = new Map<string, Promise<void>>()
  const next = new Map<string, Promise<T>>()
  const schedule = async (key: string, argument: A): Promise<T> => {
    await (current.get(key) ?? endOfTurn())
    next.delete(key)
    const running = work(argument)
    if (oneAtATime) {
      const forget = () => void current.delete(key)
      current.set(key, running.then(forget, forget))
    }
    return running
  }
  return (argument) => {
    const key = keyOf(argument)
    const shared = next.get(key) ?? schedule(key, argument)
    next.set(key, shared)
    return shared
  }
}

/** Remembers what a function returned for an object, as long as the object lives. No caller may change the object afterward. */
export function memoizeByIdentity<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { value: V }>()
  return (key) => {
    const entry = known.get(key) ?? { value: compute(key) }
    known.set(key, entry)
    return entry.value
  }
}
