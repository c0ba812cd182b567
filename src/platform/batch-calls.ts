/**
 * Batches calls that each need a script or a job of their own: under load, one round trip does the work of several, and a call
 * that comes alone waits for nothing.
 */
interface BatchOptions<C> {
  /** Calls with equal keys can share a batch. */
  keyOf: (call: C) => string
  maxCalls: number
}

interface PendingCall<C, R> {
  call: C
  resolve: (result: R) => void
  reject: (error: unknown) => void
}

/**
 * `work` gets the calls for one key that came while its previous batch was under way, and returns their results in order. It must
 * be harmless to repeat: if Redis replies with an error, each call is made once more alone, so that none fails for another.
 */
export function batchCalls<C, R>(
  work: (calls: C[]) => Promise<R[]>,
  { keyOf, maxCalls }: BatchOptions<C>,
): (call: C) => Promise<R> {
  const waiting = new Map<string, PendingCall<C, R>[]>()

  async function runBatches(key: string, pending: PendingCall<C, R>[]): Promise<void> {
    while (pending.length > 0) await runBatch(pending.splice(0, maxCalls))
    waiting.delete(key)
  }

  async function runBatch(batch: PendingCall<C, R>[]): Promise<void> {
    try {
      const results = await work(batch.map(({ call }) => call))
      if (results.length !== batch.length) throw new Error(`${results.length} results for ${batch.length} calls`)
      for (const [k, { resolve }] of batch.entries()) resolve(results[k] as R) // as many as calls
    } catch (error) {
      const isReply = error instanceof Error && error.name === 'ReplyError' // and not an outage, which all calls share
      if (isReply && batch.length > 1) await Promise.all(batch.map((one) => runBatch([one])))
      else for (const { reject } of batch) reject(error)
    }
  }

  return (call) => {
    const key = keyOf(call)
    const { promise, resolve, reject } = Promise.withResolvers<R>()
    const pending = waiting.get(key)
    if (pending) pending.push({ call, resolve, reject })
    else {
      const first = [{ call, resolve, reject }]
      waiting.set(key, first)
      void runBatches(key, first)
    }
    return promise
  }
}
