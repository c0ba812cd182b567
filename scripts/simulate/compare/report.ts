/** Prints how the rules did, a table for each scenario, and whether the frontier reached what it must. */
import { type ComparisonRow, type ComparisonSize, compareRules } from './compare.ts'
import { type FrontierLimits, SCENARIOS, type Scenario } from './scenarios.ts'

/** Returns whether every limit is kept. */
export function printComparison(size: ComparisonSize): boolean {
  const checks = SCENARIOS.flatMap((scenario) => {
    const rows = compareRules(scenario, size)
    console.log(`\n${scenario.name}`)
    console.table(Object.fromEntries(rows.map((row) => [row.rule, formatRow(row)])))
    return rows.filter(({ rule }) => rule === 'frontier').flatMap((row) => checkFrontier(scenario, row))
  })
  console.log('\nThe frontier')
  for (const { name, value, bound, isMet } of checks)
    console.log(`${isMet ? 'met    ' : 'NOT MET'}  ${name}: ${value} (${bound})`)
  return checks.every(({ isMet }) => isMet)
}

const LIMIT_NAMES = {
  settledMedian: 'groups until settled, median',
  settledP90: 'groups until settled, 90%',
  excessError: 'excess error',
  excessErrorSecondHalf: 'excess error, second half',
  regret: 'regret',
} as const satisfies Record<keyof FrontierLimits, string>

function checkFrontier({ name, frontierLimits = {} }: Scenario, row: ComparisonRow) {
  const limits = Object.entries(frontierLimits) as [keyof FrontierLimits, number][] // its own keys
  return [
    ...limits.map(([figure, limit]) => ({
      name: `${name}: ${LIMIT_NAMES[figure]}`,
      value: Number(row[figure].toFixed(3)),
      bound: `at most ${limit}`,
      isMet: row[figure] <= limit,
    })),
    { name: `${name}: groups used`, value: row.groupsUsed, bound: 'all', isMet: row.groupsUsed === 1 },
  ]
}

function formatRow(row: ComparisonRow) {
  return {
    'settled after': `${row.settledMedian} (p90 ${row.settledP90})`,
    'excess error': formatPair(row.excessError, row.excessErrorSecondHalf),
    regret: formatPair(row.regret, row.regretSecondHalf),
    'groups with signal': row.groupsWithSignal.toFixed(2),
    'groups used': row.groupsUsed.toFixed(2),
    'skill gained': row.skillGained.toFixed(3),
  }
}

/** All groups, and the second half of them. */
function formatPair(all: number, secondHalf: number): string {
  return `${all.toFixed(3)}, ${secondHalf.toFixed(3)}`
}
