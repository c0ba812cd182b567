import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import { expect, it } from 'vitest'
import { findGuessFloor } from '../../../src/features/evals/job-items.ts'
import { Ladders } from '../../../src/features/tasks/ladders.ts'
import { TaskCards } from '../../../src/features/tasks/task-cards.ts'

const ladders = new Ladders()
const cards = new TaskCards(ladders)
const spec = { grading_rules: { scoring: 'upstream' } } as Parameters<typeof findGuessFloor>[2]

it('an item of a current rung has its floor, also where its config leaves out what is the default', () => {
  const recipe = { task: 'gcd', difficulty: 0.5, config: {}, seed: 2 ** 30, index: 0, engine: cards.engineVersion }
  expect(findGuessFloor(cards, encodeItemId(recipe), spec)).toBe(cards.guessFloor('gcd', 0.5, 'upstream'))
})

it('an item that was made before its ladder changed has none', () => {
  const recipe = {
    task: 'ab',
    difficulty: 0.5,
    config: { length: 77 },
    seed: 2 ** 30,
    index: 0,
    engine: cards.engineVersion,
  }
  expect(findGuessFloor(cards, encodeItemId(recipe), spec)).toBeUndefined()
})

it('an item with a config of its own has none', () => {
  const recipe = { task: 'gcd', difficulty: null, seed: 1, index: 0, engine: cards.engineVersion }
  expect(findGuessFloor(cards, encodeItemId({ ...recipe, config: { max_value: 77 } }), spec)).toBeUndefined()
  expect(findGuessFloor(cards, encodeItemId({ ...recipe, config: {} }), spec)).toBe(
    cards.guessFloor('gcd', null, 'upstream'),
  )
})
