/** Two evals of the same items: how much they differ, and whether that is more than chance. */
import { byName, count, fixed, plural, words } from '../format.js'
import { html } from '../html.js'
import { useLoad } from '../loading.js'
import { Chip, Empty, Head, Loading, Panel, State, Tiles, Trouble } from '../parts/bits.js'
import { Table } from '../parts/table.js'

export function ComparePage({ a, b }) {
  const both = a !== '' && b !== ''
  const { value, problem } = useLoad(both ? `eval/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}` : null)
  const title = html`<${Head} title="Two evals compared"><a class="end" href="#/evals">All evals</a><//>`
  if (!both)
    return html`${title}<${Panel}><${Empty}>Pick two in the <a href="#/evals">list of evals</a> to compare them.<//><//>`
  if (problem) return html`${title}<${Trouble} problem=${problem} />`
  if (!value) return html`${title}<${Loading} />`
  return html`
    ${title}
    <${State} tone=${toneOf(value)} is=${verdictOf(value)} why=${sentenceOf(value)} />
    <${Tiles}
      tiles=${[
        [html`<a href=${`#/evals/${value.a.id}`}>a: ${value.a.id}</a>`, fixed(value.a.mean_score, 3)],
        [html`<a href=${`#/evals/${value.b.id}`}>b: ${value.b.id}</a>`, fixed(value.b.mean_score, 3)],
        ['Difference', signed(value.difference), `${plural(value.n, 'item')} of suite ${value.suite.name}`],
        ['Least that would show', fixed(value.smallest_detectable, 3), 'with these items, four times in five'],
      ]}
    />
    <${Panel} title="Task by task" about="How much a is better than b, item by item. What is marked stands out even though so many tasks are looked at.">
      <${Tasks} tasks=${value.tasks} />
    <//>
  `
}

function Tasks({ tasks }) {
  const sorted = Object.entries(tasks).toSorted(
    ([one, x], [other, y]) => (y.difference ?? 0) - (x.difference ?? 0) || byName(one, other),
  )
  return html`<${Table} label="Task by task">
    <thead>
      <tr>
        <th>task</th>
        <th class="num">difference</th>
        <th class="num">95 %</th>
        <th class="num">p, corrected</th>
        <th class="num">items</th>
      </tr>
    </thead>
    <tbody>
      ${sorted.map(
        ([name, row]) => html`<tr>
          <th scope="row">${words(name)} ${row.significant && html`<${Chip} tone=${toneOf(row)}>${row.difference > 0 ? 'better' : 'worse'}<//>`}</th>
          <td class="num">${signed(row.difference)}</td>
          <td class="num">${row.confidence_95 ? `${signed(row.confidence_95[0])} to ${signed(row.confidence_95[1])}` : '–'}</td>
          <td class="num">${fixed(row.p_corrected, 3)}</td>
          <td class="num">${count(row.n)}</td>
        </tr>`,
      )}
    </tbody>
  <//>`
}

function signed(x) {
  return x > 0 ? `+${fixed(x, 3)}` : fixed(x, 3)
}

function isChance({ confidence_95: bounds }) {
  return !bounds || (bounds[0] <= 0 && bounds[1] >= 0)
}

function toneOf(row) {
  return isChance(row) ? '' : row.difference > 0 ? 'good' : 'bad'
}

function verdictOf(row) {
  return isChance(row) ? 'no clear difference' : row.difference > 0 ? 'a is better' : 'a is worse'
}

function sentenceOf({ confidence_95: bounds, difference }) {
  if (!bounds) return 'There are too few items with a score in both to say more'
  return `a’s mean score less b’s is ${signed(difference)}, with 95 % confidence between ${signed(bounds[0])} and ${signed(bounds[1])}`
}
