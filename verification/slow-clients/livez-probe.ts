/** A thread that asks for `GET /livez` of the server at `workerData` again and again, and posts how many ms each answer took. */
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

const PAUSE_MS = 50

for (;;) {
  const start = performance.now()
  await (await fetch(`${String(workerData)}/livez`, { signal: AbortSignal.timeout(60_000) })).arrayBuffer()
  parentPort?.postMessage(performance.now() - start)
  await sleep(PAUSE_MS)
}
