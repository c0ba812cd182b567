import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Bytes of the heap that are in use, without garbage. */
export function measureHeap(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
