/** quantum_lock: whether a press that does nothing but toggle the light could lead to the target as soon as the key. */
import { z } from 'zod'
import { type DatasetEntry, requireOracleAnswer } from '../scorer.ts'
import type { Correction } from './correction.ts'

const Color = z.enum(['red', 'green'])
const Metadata = z.looseObject({
  initial_value: z.int(),
  initial_state: Color,
  target_value: z.int(),
  buttons: z.array(
    z.looseObject({
      type: z.enum(['add', 'subtract', 'multiply']),
      value: z.int(),
      active_state: z.enum(['any', ...Color.options]),
    }),
  ),
})
type Button = z.infer<typeof Metadata>['buttons'][number]

export const quantumLock: Correction = {
  reason:
    'The question says that each press toggles the light, which the library does only where the button matches it; ' +
    'and digits in an answer are not read.',
  decide: () => (answer) => (/\d/.test(answer) ? false : undefined),
  clarification: (entry) =>
    canPressIdly(entry)
      ? 'Note: a button marked with a color can only be pressed while the light has that color.'
      : undefined,
}

interface State {
  value: number
  isRed: boolean
  /** Whether a button was pressed that did not match the light. */
  isIdle: boolean
}

/** Whether as many presses as the key has, or fewer, reach the target if some of them only toggle the light. */
function canPressIdly(entry: DatasetEntry): boolean {
  const { initial_value: value, initial_state: color, target_value: target, buttons } = Metadata.parse(entry.metadata)
  const step = Math.max(...buttons.map((button) => button.value))
  const seen = new Set<string>()
  let front: State[] = [{ value, isRed: color === 'red', isIdle: false }]
  for (let left = requireOracleAnswer(entry).split(' → ').length - 1; left >= 0; left--) {
    const tooFar = Math.abs(target) + step * left // no factor shrinks a value, so it cannot come back
    const next = front.flatMap((state) => buttons.map((button) => press(state, button)))
    front = []
    for (const state of next) {
      if (state.isIdle && state.value === target) return true
      const name = `${state.value} ${state.isRed} ${state.isIdle}`
      if (Math.abs(state.value) > tooFar || seen.has(name)) continue
      seen.add(name)
      front.push(state)
    }
  }
  return false
}

function press({ value, isRed, isIdle }: State, button: Button): State {
  const doesMatch = button.active_state === 'any' || (button.active_state === 'red') === isRed
  return { value: doesMatch ? operate(value, button) : value, isRed: !isRed, isIdle: isIdle || !doesMatch }
}

function operate(value: number, { type, value: by }: Button): number {
  if (type === 'multiply') return value * by
  return type === 'add' ? value + by : value - by
}
