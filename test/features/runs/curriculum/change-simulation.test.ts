import { describe, expect, it } from 'vitest'
import {
  createFrontier,
  formatWeights,
  parseWeights,
  updateFrontier,
} from '../../../../src/features/runs/curriculum/posterior.ts'
import { CONDITIONS, type ScenarioName, simulateChange } from './change-simulation.ts'
import { createFrontierRule } from './frontier-rule.ts'

const simulate = (name: ScenarioName, condition = 'groups of 8, one a step', seeds = 4) =>
  simulateChange(name, createFrontierRule, seeds, CONDITIONS[condition])

it.each<[ScenarioName, { followed: number; regret: number }]>([
  ['still', { followed: 2, regret: 0.13 }],
  ['climb from the bottom', { followed: 4, regret: 0.18 }],
  ['jump up', { followed: 5, regret: 0.19 }],
  ['jump down', { followed: 5, regret: 0.19 }],
  ['collapse and back', { followed: 5, regret: 0.35 }],
  ['format learned at once', { followed: 5, regret: 0.4 }],
])('follows %s in a few groups, and knows how well it knows the place', (name, limits) => {
  const { followed, regret, coverage } = simulate(name)
  expect(followed).toBeLessThanOrEqual(limits.followed)
  expect(regret).toBeLessThan(limits.regret)
  expect(coverage).toBeGreaterThan(0.8)
})

describe('a weak model', () => {
  it.each<[ScenarioName, string]>([
    ['weak, 0%', 'groups of 8, one a step'],
    ['weak, 10%', 'guess floor 0.24'],
    ['weak, 0%', '16 a step, guess floor 0.24'],
    ['weak, 5%', '16 a step, guess floor 0.24'],
  ])('stays at the bottom: %s, %s', (name, condition) => {
    const { difficulty, wrongMoves } = simulate(name, condition, 2)
    expect(difficulty).toBeLessThan(0.07) // with the first groups and those that explore
    expect(wrongMoves).toBe(0)
  })
})

it('does not take faults inside the tags for difficulty', () => {
  const { followed, coverage } = simulate('jump up', '30% wrong inside the tags')
  expect(followed).toBeLessThanOrEqual(12)
  expect(coverage).toBeGreaterThan(0.8)
})

it('finds that a model is better on harder rungs', () => {
  expect(simulate('harder is easier').regret).toBeLessThan(0.3)
  expect(simulate('harder is easier', '16 a step', 2).regret).toBeLessThan(0.2)
  expect(simulate('hump', '16 a step', 2).regret).toBeLessThan(0.5)
})

it('stays the same when it is stored, and text of another grid is no frontier', () => {
  const rung = { difficulty: 0.4, floor: 0.1 }
  const weights = updateFrontier(createFrontier(), { score: 0.3, rollouts: 8, formatted: 0.7, rung }, true)
  expect(parseWeights(formatWeights(weights))).toEqual(weights)
  expect(parseWeights('12,10000,3')).toBeUndefined()
})
