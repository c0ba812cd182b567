/** Describes the result of a duel in words. */
import type { DuelResult, DuelView } from '@reasoning-gym-server/contract/duel'
import { formatInterval, formatMeanScore } from './format.ts'

/** Formats the verdict as one sentence. */
export function formatDuelVerdict({ a, b, alpha, smallest_difference, status }: DuelView, result: DuelResult): string {
  const confidence = `${Number((100 * (1 - alpha)).toFixed(2))}%`
  switch (result.ended_by) {
    case 'winner': {
      const winner = result.verdict === 'a_better' ? `a (${a.name})` : `b (${b.name})`
      return `${winner} is better: shown with ${confidence} confidence after ${result.items} items.`
    }
    case 'equivalence':
      return `No difference found: it is smaller than ${smallest_difference} with ${confidence} confidence, after ${result.items} items.`
    case 'max_items':
      return `No difference found in ${result.items} items: neither model is shown to be better.`
    case 'interruption':
      return `No difference found in the ${result.items} items before the duel was ${status}.`
    case null:
      return `Undecided after ${result.items} items.`
  }
}

/** Lists the name and value of each figure. */
export function listDuelFigures(result: DuelResult): [name: string, value: string][] {
  const side = ({ mean_score, lift }: DuelResult['a']) =>
    `${formatMeanScore(mean_score)} mean score, lift ${formatMeanScore(lift)}`
  return [
    ['a', side(result.a)],
    ['b', side(result.b)],
    ['difference, a − b', `${formatMeanScore(result.difference)} ${formatInterval(result.confidence_sequence)}`],
    ['e-value', formatEvidence(result.e_value)],
    ['p, at any time', result.p < 0.0001 ? result.p.toExponential(1) : result.p.toFixed(4)],
    ['items', `${result.items}${result.skipped > 0 ? `, and ${result.skipped} without a score of both` : ''}`],
  ]
}

function formatEvidence(value: number): string {
  return value >= 10_000 || value < 0.001 ? value.toExponential(1) : value.toPrecision(3)
}

/** Builds the cells of the table of tasks: name, items, a, b, difference. */
export function listDuelTaskRows(result: DuelResult): string[][] {
  return Object.entries(result.tasks).map(([task, { items, a, b, difference }]) => [
    task,
    items.toString(),
    formatMeanScore(a.mean_score),
    formatMeanScore(b.mean_score),
    formatMeanScore(difference),
  ])
}

export const DUEL_TASK_HEADS = ['task', 'items', 'a', 'b', 'a − b']
