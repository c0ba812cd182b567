/** Undoes the scramble of a cube, in the notation that the library reads in answers. */

const MOVE_PATTERN = /^(\d*)([LRDUBF])(w?)('?)$/

/**
 * Returns undefined if a move turns layers that the notation cannot name. It knows single outer layers (`R`) and the outer two
 * (`Rw`), so some cubes of size 6 and above have no solution in this notation.
 */
export function invertScramble(scramble: string): string | undefined {
  const undone = scramble.split(' ').toReversed().map(invertMove)
  return undone.includes(undefined) ? undefined : undone.join(' ')
}

function invertMove(move: string): string | undefined {
  const [found, layer = '', face = '', wide = '', reversed = ''] = MOVE_PATTERN.exec(move) ?? []
  const back = reversed ? '' : "'"
  const depth = layer === '' ? (wide ? 2 : 1) : Number(layer)
  if (found === undefined || depth > 2) return undefined
  if (depth === 1) return `${face}${back}`
  const both = `${face}w${back}`
  return wide ? both : `${both} ${face}${reversed ? "'" : ''}` // turns the second layer alone: both layers back, then the outer one forward
}
