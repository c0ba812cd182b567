/** A thread that calls an address every few milliseconds, says when it is warm, and at the end how long the slowest call took. */
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

const PAUSE_MS = 5
/** Calls that open the connection and compile the code. */
const WARM_CALLS = 5

let slowest = 0
let isEnded = false
parentPort?.once('message', () => {
  isEnded = true
})
for (let k = 0; !isEnded; k++) {
  const startedAt = performance.now()
  await fetch(String(workerData)).then((response) => response.text())
  if (k === WARM_CALLS) parentPort?.postMessage('warm')
  if (k > WARM_CALLS) slowest = Math.max(slowest, performance.now() - startedAt)
  await sleep(PAUSE_MS)
}
parentPort?.postMessage(slowest)
