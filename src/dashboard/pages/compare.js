/** Two evals of the same items: how much they differ, and whether that is more than chance. */
import { count, fixed, words } from '../format.js'
import { useLoad } from '../hooks.js'
import { html } from '../html.js'
import { Head, Loading, Panel, State, Trouble } from '../parts/bits.js'
import { Table } from '../parts/table.js'

export function ComparePage({ a, b }) {
  const { value, problem } = useLoad(`eval/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`)
  const title = html`<${Head} title="Two evals compared"><a class="end" href="#/evals">All evals</a><//>`
  if (problem) return html`${title}<${Trouble} problem=${problem} absent="This server runs no evals." />`
  if (!value) return html`${title}<${Loading} />`
  const all = value.all ?? value.total ?? value
  const tasks = Object.entries(value.tasks ?? {}).toSorted(([, x], [, y]) => differenceOf(y) - differenceOf(x))
  return html`
    ${title}
    <${State} tone=${toneOf(all)} is=${`${signed(differenceOf(all))} in mean score`} why=${sentenceOf(all)} />
    <${Panel} title="Task by task" about=${`What ${b} has more than ${a}, item by item.`}>
      <${Table} label="Task by task">
          <thead><tr><th>task</th><th class="num">difference</th><th class="num">95 %</th><th class="num">a</th><th class="num">b</th><th class="num">items</th></tr></thead>
          <tbody>
            ${tasks.map(
              ([name, row]) => html`<tr>
                <th scope="row">${words(name)}</th>
                <td class="num">${signed(differenceOf(row))}</td>
                <td class="num">${row.confidence_95 ? `${signed(row.confidence_95[0])} to ${signed(row.confidence_95[1])}` : '–'}</td>
                <td class="num">${fixed(row.a ?? row.mean_a, 3)}</td>
                <td class="num">${fixed(row.b ?? row.mean_b, 3)}</td>
                <td class="num">${count(row.items ?? row.n)}</td>
              </tr>`,
            )}
          </tbody>
        <//>
    <//>
  `
}

function differenceOf(row) {
  return row.difference ?? row.mean ?? 0
}

function signed(x) {
  return x > 0 ? `+${fixed(x, 3)}` : fixed(x, 3)
}

function toneOf({ confidence_95 }) {
  if (!confidence_95 || (confidence_95[0] <= 0 && confidence_95[1] >= 0)) return ''
  return confidence_95[0] > 0 ? 'good' : 'bad'
}

function sentenceOf({ confidence_95 }) {
  if (!confidence_95) return 'There are too few items in common to say more'
  const [low, high] = confidence_95
  const span = `with 95 % confidence the difference lies between ${signed(low)} and ${signed(high)}`
  return low <= 0 && high >= 0 ? `It may be chance: ${span}` : `It is more than chance: ${span}`
}
