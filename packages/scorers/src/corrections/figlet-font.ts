/** figlet_font: fonts in which letters look alike or are missing. */
import { z } from 'zod'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({ font: z.string() })
/** Other signs stand where letters should be, or nothing. */
const FONTS_WITHOUT_LETTERS = new Set(['b_m__200', 'home_pak', 'runic', 'stencil2'])
/** The letters of a font that look the same. */
const LOOKALIKES: ReadonlyMap<string, RegExp> = new Map([
  ['smisome1', /[DO]/i],
  ['test1', /[CE]/i],
])

export const figletFont: Correction = {
  reason: 'In some fonts two letters look the same, or other signs stand where letters should be.',
  hasRightAnswer: ({ answer, metadata }) => {
    const { font } = Metadata.parse(metadata)
    return !FONTS_WITHOUT_LETTERS.has(font) && !LOOKALIKES.get(font)?.test(answer ?? '')
  },
}
