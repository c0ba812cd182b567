/** Items of an eval worked on a few at once: as many as keep the engine busy. */

const MAX_CONCURRENCY = 32

/** The answers in order. Nothing more is begun once the signal is aborted; then it throws its reason. */
export async function mapConcurrently<T, U>(
  values: T[],
  make: (value: T, k: number) => Promise<U>,
  signal?: AbortSignal,
): Promise<U[]> {
  const made: U[] = []
  const queue = values.entries()
  const work = async () => {
    for (const [k, value] of queue) {
      signal?.throwIfAborted()
      made[k] = await make(value, k)
    }
  }
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENCY, values.length) }, work))
  return made
}
