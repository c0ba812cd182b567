/** Prints how the rules did, a table for each scenario. */
import { type ComparisonRow, type ComparisonSize, compareRules } from './compare.ts'
import { SCENARIOS } from './scenarios.ts'

export function printComparison(size: ComparisonSize): void {
  for (const scenario of SCENARIOS) {
    console.log(`\n${scenario.name}`)
    console.table(Object.fromEntries(compareRules(scenario, size).map((row) => [row.rule, formatRow(row)])))
  }
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
