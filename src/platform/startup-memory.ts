/** Gives back the memory that a start needed: most of the young generation, compiled functions, and parsed files. */
import { queryObjects } from 'node:v8'

const DELAY_MS = 1000 // what waited for the start comes first

/** Nothing is made of it. */
class Absent {}

/**
 * V8 returns memory of an idle process to the system only some seconds after a full collection, and an idle server has none. One
 * frees a third of the memory of an API process. After it, V8 lets the old generation grow by only 8 MB before it collects it again, unless
 * `--initial-old-space-size` says more (`child-processes.ts`). A count of objects begins with a full collection.
 */
export function releaseStartupMemory(): void {
  setTimeout(() => queryObjects(Absent, { format: 'count' }), DELAY_MS).unref()
}
