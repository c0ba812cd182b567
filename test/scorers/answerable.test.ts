import { isAnswerable } from '@reasoning-gym-server/scorers/corrections/corrections'
import { findNovelConclusion, propositionalLogic } from '@reasoning-gym-server/scorers/hardened/propositional-logic'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { PythonEngine } from '../../src/engine/python-engine.ts'
import { Ladders } from '../../src/features/tasks/ladders.ts'
import { makeHardenedItems } from '../../src/grading/hardened-item.ts'

const ladders = new Ladders()
let engine: PythonEngine
beforeAll(async () => {
  engine = new PythonEngine({
    pythonPath: inject('python'),
    librarySocket: inject('librarySocket'),
    workersPerPool: 1,
    scoreDeadlineMs: 20_000,
    makeDeadlineMs: 20_000,
  })
  await engine.waitUntilStarted()
})
afterAll(() => engine.close())

it.each<[premises: string[], conclusion: string | undefined]>([
  [['(P → Q)', 'P'], 'Q'],
  [['(P ∨ Q)', '¬P'], 'Q'],
  [['(P → Q)', '(Q → R)'], '(¬P ∨ R)'],
  [['P', 'Q'], undefined], // nothing new follows
  [['(P ∧ Q)', '¬P'], undefined], // everything follows
])('from %j the search concludes %j', (premises, conclusion) => {
  const entry = { question: '', answer: null, metadata: { premises, variables: ['P', 'Q', 'R'] } }
  expect(findNovelConclusion(entry)).toBe(conclusion)
  expect(isAnswerable('propositional_logic', entry)).toBe(conclusion !== undefined)
})

it('a value that a premise gives is nothing new in other words', () => {
  const entry = { question: '', answer: null, metadata: { premises: ['¬R', '(¬P ∧ ¬R)'], variables: ['P', 'Q', 'R'] } }
  const score = propositionalLogic({ entry, config: {}, upstream: () => 1 })
  expect(['(P → ¬P)', '(R ↔ (P ∧ ¬P))'].map((answer) => score(answer))).toEqual([0, 0])
})

it('an item of propositional_logic is answerable if a formula of two literals or a conjunction of three is paid', async () => {
  for (const difficulty of [0, 0.5, 1]) {
    const config = await engine.canonicalizeConfig(
      'propositional_logic',
      ladders.configAt('propositional_logic', difficulty),
    )
    const items = await makeHardenedItems(
      engine,
      'propositional_logic',
      config,
      range(40).map((k) => [k, 0]),
    )
    for (const item of items) {
      const found = findNovelConclusion(item.entry)
      const { variables } = item.entry.metadata as { variables: string[] }
      const scores = await item.score(found === undefined ? listSimpleConclusions(variables) : [found])
      expect(Math.max(...scores), item.question).toBe(found === undefined ? 0 : 1)
    }
    const answerable = items.filter(({ entry }) => isAnswerable('propositional_logic', entry)).length
    expect(answerable).toBeGreaterThan(items.length / 4) // so that sixteen seeds rarely all fail
  }
})

function listSimpleConclusions(variables: readonly string[]): string[] {
  const literals = variables.flatMap((name) => [name, `¬${name}`])
  const pairs = literals.flatMap((a, k) => literals.slice(k + 1).map((b) => [a, b]))
  const triples = pairs.flatMap(([a, b]) => literals.map((c) => `(${a} ∧ (${b} ∧ ${c}))`))
  return [
    ...literals,
    ...pairs.flatMap(([a, b]) => ['∧', '∨', '→', '↔'].map((sign) => `(${a} ${sign} ${b})`)),
    ...triples,
  ]
}

function range(n: number): number[] {
  return Array.from({ length: n }, (_, k) => k)
}
