/** Reproducible random numbers: equal seeds and names give equal numbers, in any order of calls. */
import { createHash } from 'node:crypto'

/** Returns a uniformly distributed number in [0, 1). */
export function hashToUnitInterval(...names: (string | number)[]): number {
  return createHash('sha256').update(JSON.stringify(names)).digest().readUIntBE(0, 6) / 2 ** 48
}

/** Splits [0, 1) into parts of these widths, and returns the part that holds the draw, or undefined for the remainder. */
export function pickWeighted<Name extends string>(draw: number, widths: Record<Name, number>): Name | undefined {
  let edge = 0
  for (const name in widths) {
    edge += widths[name]
    if (draw < edge) return name
  }
  return undefined
}
