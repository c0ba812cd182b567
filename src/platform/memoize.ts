/** Remembers what a function returned for an object, as long as the object lives. No caller may change the object afterward. */
export function memoizeByIdentity<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { value: V }>()
  return (key) => {
    const entry = known.get(key) ?? { value: compute(key) }
    known.set(key, entry)
    return entry.value
  }
}
