import { decodeItemId, encodeItemId } from '@reasoning-gym-server/contract/item-id'
import { expect, it } from 'vitest'
import { findGuessFloor } from '../../../src/features/evals/job-items.ts'
import { readSuiteLines, readSuiteManifest } from '../../../src/features/items/eval-questions.ts'
import { Ladders } from '../../../src/features/tasks/ladders.ts'
import { TaskCards } from '../../../src/features/tasks/task-cards.ts'

const ladders = new Ladders()
const cards = new TaskCards(ladders)
const spec = { grading_rules: { scoring: 'upstream' } } as Parameters<typeof findGuessFloor>[2]

function listIds(name: string): string[] {
  const suite = readSuiteManifest().find((one) => one.name === name)
  return suite ? readSuiteLines(suite).map((line) => line.split('\t')[0] ?? '') : []
}

it('an item that was made before its ladder changed has no known guess floor', () => {
  const first = listIds('ladder').filter((id) => decodeItemId(id).task === 'ab')
  expect(first).not.toEqual([])
  for (const id of first) {
    const { difficulty, config } = decodeItemId(id)
    const isCurrent = config.length === ladders.configAt('ab', difficulty ?? 0).length
    expect(findGuessFloor(cards, id, spec) !== undefined).toBe(isCurrent)
  }
  expect(first.some((id) => findGuessFloor(cards, id, spec) === undefined)).toBe(true)
})

it('an item of a current rung has its floor, also where its config leaves out what is the default', () => {
  const recipe = { task: 'gcd', difficulty: 0.5, config: {}, seed: 2 ** 30, index: 0, engine: cards.engineVersion }
  expect(findGuessFloor(cards, encodeItemId(recipe), spec)).toBe(cards.guessFloor('gcd', 0.5, 'upstream'))
})

it('an item with a config of its own has none', () => {
  const recipe = { task: 'gcd', difficulty: null, seed: 1, index: 0, engine: cards.engineVersion }
  expect(findGuessFloor(cards, encodeItemId({ ...recipe, config: { max_value: 77 } }), spec)).toBeUndefined()
  expect(findGuessFloor(cards, encodeItemId({ ...recipe, config: {} }), spec)).toBe(
    cards.guessFloor('gcd', null, 'upstream'),
  )
})
