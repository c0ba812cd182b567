/**
 * How the curriculum `frontier` follows simulated models whose truth is known. Prints a
 * table: a row is a condition, such as groups that come late, and n its repetitions of each ladder.
 */
import { parseArgs } from 'node:util'
import {
  CONDITIONS,
  SCENARIOS,
  type ScenarioName,
  simulateChange,
} from '../test/features/runs/curriculum/change-simulation.ts'
import { createFrontierRule } from '../test/features/runs/curriculum/frontier-rule.ts'

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '20' }, only: { type: 'string' } } })
const names = Object.keys(SCENARIOS) as ScenarioName[] // its own keys
const conditions = Object.entries(CONDITIONS).filter(([name]) => !values.only || name.includes(values.only))

console.log(`| condition | n | ${names.join(' | ')} |\n|---|---|${'---|'.repeat(names.length)}`)
for (const [name, condition] of conditions) {
  const repetitions = Math.max(2, Math.round(Number(values.seeds) * Math.min(1, 120 / (condition.groups ?? 60))))
  const cells = names.map((scenario) => {
    const figures = simulateChange(scenario, createFrontierRule, repetitions, condition)
    if (scenario.startsWith('weak')) return figures.difficulty.toFixed(2)
    const jumped = /jump|to 0/.test(scenario) ? ` (${figures.followed}/${figures.followedLate})` : ''
    const covered = Number.isNaN(figures.coverage) ? '' : `, ${Math.round(100 * figures.coverage)}%`
    return `${figures.regret.toFixed(2)}${jumped}${covered}`
  })
  console.log(`| ${name} | ${repetitions} | ${cells.join(' | ')} |`)
}
