/** Chance that can be repeated: equal seeds and names give equal numbers, in whatever order they are asked for. */
import { createHash } from 'node:crypto'

/** A number in [0, 1), evenly spread. */
export function hashToUnitInterval(...names: (string | number)[]): number {
  return createHash('sha256').update(JSON.stringify(names)).digest().readUIntBE(0, 6) / 2 ** 48
}

/** The part of [0, 1) that a draw fell into, of parts with these widths; undefined in what is left over. */
export function pickWeighted<Name extends string>(draw: number, widths: Record<Name, number>): Name | undefined {
  let edge = 0
  for (const name in widths) {
    edge += widths[name]
    if (draw < edge) return name
  }
  return undefined
}
