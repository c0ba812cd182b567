/** Prints how the rules for sampling did, a table for each scenario. */
import { compareSampling, SAMPLING_SCENARIOS, type SamplingRow, type SamplingSize } from './compare.ts'

export function printSamplingComparison(size: SamplingSize): void {
  for (const scenario of SAMPLING_SCENARIOS) {
    console.log(`\n${scenario.name}`)
    console.table(Object.fromEntries(compareSampling(scenario, size).map((row) => [row.rule, formatRow(row)])))
  }
}

function formatRow(row: SamplingRow) {
  return {
    'groups with signal': row.groupsWithSignal.toFixed(2),
    learnable: row.learnable.toFixed(2),
    'in reach': row.inReach.toFixed(2),
    'all right or all wrong': row.bimodal.toFixed(2),
    evenness: row.evenness.toFixed(2),
    'skill gained': row.skillGained.toFixed(3),
  }
}
