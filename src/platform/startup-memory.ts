/** Gives back the memory that a start needed: most of the young generation, compiled functions, and parsed files. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const DELAY_MS = 1000 // what waited for the start comes first

/**
 * V8 returns memory of an idle process to the system only some seconds after a full collection, and an idle server has none. One
 * takes 20 ms, and frees a third of the memory of an API process; under load there are several a minute anyway.
 */
export function releaseStartupMemory(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void // new contexts have what the flag exposes
    collect()
  }, DELAY_MS).unref()
}
