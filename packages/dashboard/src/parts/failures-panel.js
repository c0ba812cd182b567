/** The samples of an eval without a score: how many, why, and what that does to the mean score. */
import { formatCount, formatDecimal, humanize, pluralize, toSentence } from '../format.js'
import { html } from '../html.js'
import { Panel } from './common.js'
import { Table } from './table.js'

export function FailuresPanel({ result }) {
  const failures = listFailures(result.failures)
  const count = failures.reduce((sum, failure) => sum + failure.count, 0)
  if (count === 0) return null
  return html`<${Panel} title=${`${pluralize(count, 'sample')} without a score`} about=${explainScore(result)}>
    <${Table} label="Reasons">
      <thead><tr><th class="num">samples</th><th>reason</th></tr></thead>
      <tbody>
        ${failures.map(
          ({ code, reason, count: samples }) => html`<tr>
            <td class="num">${formatCount(samples)}</td>
            <td>${reason ? toSentence(reason) : humanize(code)}${reason && html` <span class="soft">${humanize(code)}</span>`}</td>
          </tr>`,
        )}
      </tbody>
    <//>
  <//>`
}

/** Failures, most frequent first. */
function listFailures(failures = []) {
  if (Array.isArray(failures)) return failures
  return Object.entries(failures)
    .map(([code, count]) => ({ code, count }))
    .toSorted((a, b) => b.count - a.count)
}

function explainScore({ mean_score, mean_score_failures_wrong }) {
  if (mean_score === null) return 'No sample has a score, so this eval says nothing about the model.'
  return `The mean score leaves these samples out. If they counted as wrong, it would be ${formatDecimal(mean_score_failures_wrong, 3)}.`
}
