/**
 * Codec for the positions of training steps as text: `;7=0+64,70+2` says that step 7 has positions 0 to 63, 70 and 71.
 * scripts/parts/step-positions.lua is the same codec in Lua.
 */

/** Number of steps per hash field. */
export const STEPS_PER_CHUNK = 128

/** The first of some consecutive positions, and their number. */
type Stretch = [first: number, count: number]

export interface StepPositions {
  step: number
  positions: Stretch[]
}

export function parseSteps(chunk: string): StepPositions[] {
  return chunk
    .split(';')
    .slice(1)
    .map((text) => {
      const [step = '', stretches = ''] = text.split('=')
      return { step: Number(step), positions: stretches.split(',').map(parseStretch) }
    })
}

/** Formats steps as chunks, keyed by chunk number. */
export function formatSteps(steps: StepPositions[]): Record<string, string> {
  const chunks = Map.groupBy(steps, ({ step }) => Math.floor(step / STEPS_PER_CHUNK))
  return Object.fromEntries([...chunks].map(([number, list]) => [number, list.map(formatStep).join('')]))
}

function parseStretch(text: string): Stretch {
  const [first = 0, count = 0] = text.split('+').map(Number)
  return [first, count]
}

function formatStep({ step, positions }: StepPositions): string {
  return `;${step}=${positions.map(([first, count]) => `${first}+${count}`).join(',')}`
}
