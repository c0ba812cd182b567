/** rubiks_cube: a scramble whose turns undo each other leaves nothing to solve; the hardened rule reads the turns. */
import { isScrambled } from '../hardened/plans.ts'
import type { Correction } from './correction.ts'

export const rubiksCube: Correction = {
  reason: 'Turns such as “2R” and “R2′” are passed over, combined turns are paid, and some scrambles undo themselves.',
  hasRightAnswer: isScrambled,
}
