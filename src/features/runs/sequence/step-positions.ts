/** The positions of a training step as text, `0+64,70+2` for 0 to 63, 70 and 71; scripts/parts/step-positions.lua is the same codec in Lua. */

/** The first of some consecutive positions, and their number. */
export type Stretch = [first: number, count: number]

export function parseStretches(text: string): Stretch[] {
  return text.split(',').map((stretch) => {
    const [first = 0, count = 0] = stretch.split('+').map(Number)
    return [first, count]
  })
}

export function formatStretches(stretches: Stretch[]): string {
  return stretches.map(([first, count]) => `${first}+${count}`).join(',')
}
