/** color_cube_rotation: a bottom that is brought to the top may go over the front or over the right. */
import { z } from 'zod'
import type { DatasetEntry } from '../scorer.ts'
import type { Correction } from './correction.ts'

const SIDES = ['top', 'right', 'front', 'left', 'back', 'bottom'] as const
const Metadata = z.looseObject({ rotations: z.array(z.enum(SIDES)), target_side: z.enum(SIDES) })

/** By the side that comes to the top: for each side, the number of the one that is there afterward. */
const TURNS: Readonly<Record<(typeof SIDES)[number], readonly (readonly number[])[]>> = {
  top: [[0, 1, 2, 3, 4, 5]],
  right: [[1, 5, 2, 0, 4, 3]],
  front: [[2, 1, 5, 3, 0, 4]],
  left: [[3, 0, 2, 5, 4, 1]],
  back: [[4, 1, 0, 3, 5, 2]],
  bottom: [
    [5, 1, 4, 3, 2, 0],
    [5, 3, 2, 1, 4, 0],
  ],
}

/** Whether the ways of the half turns lead to different colors. */
function hasReadings({ metadata }: DatasetEntry): boolean {
  const { rotations, target_side } = Metadata.parse(metadata)
  let cubes = ['012345']
  for (const side of rotations) {
    const turned = TURNS[side].flatMap((turn) => cubes.map((cube) => apply(turn, cube)))
    cubes = turned.length > 1 ? [...new Set(turned)] : turned
  }
  const asked = SIDES.indexOf(target_side)
  return cubes.some((cube) => cube[asked] !== cubes[0]?.[asked])
}

function apply([a = 0, b = 0, c = 0, d = 0, e = 0, f = 0]: readonly number[], cube: string): string {
  return `${cube[a]}${cube[b]}${cube[c]}${cube[d]}${cube[e]}${cube[f]}`
}

export const colorCubeRotation: Correction = {
  reason:
    'A cube whose bottom is brought to the top may turn over its front or over its right: the key takes the front.',
  clarification: (entry) =>
    hasReadings(entry)
      ? 'Note: when the bottom side is brought to the top, the front and back sides change places, ' +
        'and the left and right sides stay.'
      : undefined,
}
