import { expect, it } from 'vitest'
import {
  chooseExploredRung,
  chooseRung,
  createFrontier,
  estimateFrontier,
  type FrontierRung,
  formatWeights,
  parseWeights,
  updateFrontier,
} from '../../../../src/features/runs/curriculum/posterior.ts'
import { type FrontierUnderTest, SCENARIOS, type ScenarioName, simulateChange } from './change-simulation.ts'

function followFrontier(rungs: readonly FrontierRung[]): FrontierUnderTest {
  let weights = createFrontier()
  let current: FrontierRung | undefined
  return {
    choose(uniform) {
      current = chooseRung(weights, rungs, { current })
      const item = chooseExploredRung(rungs, uniform) ?? current
      return { level: current.difficulty, difficulty: item.difficulty }
    },
    learn(group) {
      weights = updateFrontier(weights, group)
    },
    estimate: () => estimateFrontier(weights),
  }
}

const simulate = (name: ScenarioName) => simulateChange(SCENARIOS[name], followFrontier, 8)

it.each<[ScenarioName, { followed: number; regret: number }]>([
  ['still, slope 10', { followed: 2, regret: 0.04 }],
  ['cap 0.5', { followed: 3, regret: 0.06 }],
  ['jump 0.2 to 0.85', { followed: 4, regret: 0.06 }],
  ['jump 0.85 to 0.2', { followed: 4, regret: 0.06 }],
  ['collapse and back', { followed: 3, regret: 0.06 }],
  ['format learnt at once', { followed: 2, regret: 0.2 }],
])('follows %s in a few groups, and knows how well it knows the place', (name, limits) => {
  const { followed, regret, coverage } = simulate(name)
  expect(followed).toBeLessThanOrEqual(limits.followed)
  expect(regret).toBeLessThan(limits.regret)
  expect(coverage).toBeGreaterThan(0.85)
})

it('finds that a model is better on harder rungs', () => {
  expect(simulate('non-monotone').regret).toBeLessThan(0.35)
})

it('stays the same when it is stored, and text of another grid is no frontier', () => {
  const rung = { difficulty: 0.4, floor: 0.1 }
  const weights = updateFrontier(createFrontier(), { score: 0.3, rollouts: 8, formatted: 0.7, rung })
  expect(parseWeights(formatWeights(weights))).toEqual(weights)
  expect(parseWeights('12,10000,3')).toBeUndefined()
})
