/** Presses the buttons; 0.5 where the target takes more or fewer presses than it needs. Rule of `reasoning_gym/graphs/quantum_lock.py`. */
import { z } from 'zod'
import { upper } from '../python/text.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'

const Button = z.looseObject({
  name: z.string(),
  type: z.enum(['add', 'subtract', 'multiply']),
  value: z.int().min(1),
  active_state: z.string(),
})
const Lock = z.looseObject({
  initial_value: z.int(),
  initial_state: z.string(),
  target_value: z.int(),
  buttons: z.array(Button),
})
type Lock = z.infer<typeof Lock>

export const quantumLock = defineScorer({
  metadata: Lock,
  score(answer, entry) {
    const [given, wanted] = [parsePresses(answer), parsePresses(requireOracleAnswer(entry))]
    if (given.join() === wanted.join()) return 1
    if (pressButtons(entry.metadata, given) !== entry.metadata.target_value) return 0
    return given.length === wanted.length ? 1 : 0.5
  },
})

function parsePresses(text: string): string[] {
  return upper(text).match(/[A-C]/g) ?? []
}

/** The value at the end; NaN for one so far off that the presses left cannot bring it back, since no factor shrinks it. */
function pressButtons(lock: Lock, presses: readonly string[]): number {
  const buttons = new Map(lock.buttons.map((button) => [button.name, button]))
  const step = Math.max(...lock.buttons.map((button) => button.value))
  const tooFar = Math.abs(lock.target_value) + step * presses.length
  let value = lock.initial_value
  let color = lock.initial_state
  for (const name of presses) {
    const button = buttons.get(name)
    if (button === undefined || ![color, 'any'].includes(button.active_state)) continue
    if (button.type === 'add') value += button.value
    else if (button.type === 'subtract') value -= button.value
    else value *= button.value
    color = color === 'red' ? 'green' : 'red'
    if (Math.abs(value) > tooFar) return Number.NaN
  }
  return value
}
