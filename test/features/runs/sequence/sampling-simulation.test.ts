import { expect, it } from 'vitest'
import {
  compareSampling,
  SAMPLING_SCENARIOS,
  SAMPLING_SIZE,
  type SamplingRow,
} from '../../../../scripts/simulate/sampling/compare.ts'

function compare(name: string, rules: string[]): Record<string, SamplingRow> {
  const scenario = SAMPLING_SCENARIOS.find((one) => one.name === name)
  if (!scenario) throw new Error(`no scenario ${name}`)
  const rows = compareSampling(scenario, { ...SAMPLING_SIZE, seeds: 1, groups: 3000 }, rules)
  return Object.fromEntries(rows.map((row) => [row.rule, row]))
}

it('in a mix of tasks with the frontier, four of five groups have signal', { timeout: 60_000 }, () => {
  const { learnability, weights } = compare('frontier', ['weights', 'learnability'])
  expect(learnability?.groupsWithSignal).toBeGreaterThan(0.78)
  expect(weights?.groupsWithSignal).toBeLessThan(0.68)
  expect(learnability?.bimodal).toBeLessThan(0.07)
  expect(learnability?.evenness).toBeGreaterThan(0.9)
})

it('where guesses are right, more is learnable than under a rule that does not know the floors', {
  timeout: 60_000,
}, () => {
  const rules = ['learnability', 'SEC, temperature 0.15']
  const rows = compare('no curriculum, floors of 0 to 0.7', rules)
  const learnable = (rule: string) => rows[rule]?.learnable ?? Number.NaN
  for (const other of rules.slice(1)) expect(learnable('learnability') / learnable(other)).toBeGreaterThan(1.2)
})
