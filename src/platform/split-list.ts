/** Cuts a list into parts: for commands of a bounded size, and the tuples of a flat reply of Redis. */
export function splitList<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, k) => list.slice(k * size, (k + 1) * size))
}
