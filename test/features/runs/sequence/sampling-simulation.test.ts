import { expect, it } from 'vitest'
import { SCENARIOS, simulateRun } from './sampling-simulation.ts'

it('in a mix of tasks with the frontier, four of five groups have signal', { timeout: 180_000 }, () => {
  const learnability = simulateRun(SCENARIOS.frontier, 'learnability')
  const weights = simulateRun(SCENARIOS.frontier, 'weights')
  expect(learnability.groupsWithSignal).toBeGreaterThan(0.78)
  expect(weights.groupsWithSignal).toBeLessThan(0.68)
  expect(learnability.bimodal).toBeLessThan(0.07)
  expect(learnability.evenness).toBeGreaterThan(0.9)
})

it('where guesses are right, more is learnable than under a rule that does not know the floors', {
  timeout: 180_000,
}, () => {
  const scenario = SCENARIOS['no curriculum, floors of 0 to 0.7']
  const learnable = (rule: 'learnability' | 'SEC') => simulateRun(scenario, rule).learnable
  expect(learnable('learnability') / learnable('SEC')).toBeGreaterThan(1.2)
})
