/** The items that one of two evals answers correctly and the other does not, with both answers. */
import { readNdjson } from '../api.js'
import { useResource } from '../data-hooks.js'
import { countFlips } from '../eval-facts.js'
import { formatCount, formatDecimal, pluralize } from '../format.js'
import { useQueryField } from '../hooks.js'
import { html, useState } from '../html.js'
import { EmptyState, ErrorMessage, Loading, Panel, SegmentedControl } from './common.js'
import { QuestionText, SampleView, useQuestion } from './completion.js'
import { FilterSelect } from './list-tools.js'

const PAGE_SIZE = 25

/** `value`: the comparison. `names`: what to call the two evals. */
export function FlipsPanel({ value, names }) {
  const [task, setTask] = useQueryField('task')
  const [side, setSide] = useQueryField('right')
  const [shown, setShown] = useState(PAGE_SIZE)
  const { a, b, tasks } = value
  const counts = task === '' ? value : (tasks[task] ?? value)
  const total = countFlips(value)
  const filters = new URLSearchParams({ a: a.id, b: b.id, ...(task && { task }), ...(side && { right_in: side }) })
  const { value: items, problem } = useResource(total === 0 ? null : `eval/compare/items?${filters}`, {
    load: readNdjson,
  })
  const changed = Object.keys(tasks).filter((name) => countFlips(tasks[name]) > 0)
  return html`<${Panel} title="Items that flipped" about=${`The items that one eval answers correctly and the other does not: ${pluralize(total, 'item')} of ${formatCount(value.n)}.`}>
    ${total === 0 && html`<${EmptyState}>Both evals have the same items right.<//>`}
    ${
      total > 0 &&
      html`<div class="filters">
        <${FilterSelect} label="Task" value=${task} any="all" options=${changed} nameOf=${(name) => `${name} (${formatCount(countFlips(tasks[name]))})`} onChange=${setTask} />
        <${SegmentedControl}
          label="Direction"
          value=${side}
          onChange=${setSide}
          options=${{
            '': `All (${formatCount(countFlips(counts))})`,
            a: `Only ${names.a} is right (${formatCount(counts.only_a_right)})`,
            b: `Only ${names.b} is right (${formatCount(counts.only_b_right)})`,
          }}
        />
      </div>`
    }
    ${problem && html`<${ErrorMessage} problem=${problem} />`}
    ${total > 0 && !items && !problem && html`<${Loading} />`}
    ${items?.length === 0 && html`<${EmptyState}>No item matches the filters.<//>`}
    <div class="groups">${(items ?? []).slice(0, shown).map((item) => html`<${FlippedItem} key=${item.item_id} item=${item} ids=${{ a: a.id, b: b.id }} names=${names} />`)}</div>
    ${items?.length > shown && html`<p class="more"><button type="button" onClick=${() => setShown(shown + PAGE_SIZE)}>More items</button></p>`}
  <//>`
}

function FlippedItem({ item, ids, names }) {
  const [open, setOpen] = useState(false)
  return html`<details class="group" onToggle=${(event) => setOpen(event.target.open)}>
    <summary>
      <strong>${item.task}</strong>
      ${item.difficulty !== null && html`<span class="soft">difficulty ${formatDecimal(item.difficulty)}</span>`}
      <span class="sides">${['a', 'b'].map((side) => html`<${Side} name=${names[side]} side=${item[side]} right=${item.right_in === side} />`)}</span>
    </summary>
    ${open && html`<${FlipDetails} item=${item} ids=${ids} names=${names} />`}
  </details>`
}

function Side({ name, side, right }) {
  return html`<span class=${right ? 'right' : 'wrong'}>
    <b>${right ? '✓' : '✗'} ${name}</b> <code>${side.answer === null ? 'no answer' : shorten(side.answer)}</code>
  </span>`
}

function shorten(text) {
  const line = text.trim().replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 60)}…` : line
}

function FlipDetails({ item, ids, names }) {
  const sides = {
    a: useResource(`eval/${ids.a}/samples/${item.a.sample_id}`),
    b: useResource(`eval/${ids.b}/samples/${item.b.sample_id}`),
  }
  const question = useQuestion(item.item_id)
  return html`
    <div><${QuestionText} ...${question} /></div>
    <div class="answers">
      ${Object.entries(sides).map(([side, { value, problem }]) => {
        const { samples, sample_id: id, score } = item[side]
        return html`<div class="completion">
          <span class="soft">${samples > 1 && `mean of ${pluralize(samples, 'sample')}: ${formatDecimal(score)}; `}<a href=${`#/evals/${ids[side]}/samples/${id}`}>${names[side]}, sample ${id}</a></span>
          ${problem && html`<${ErrorMessage} problem=${problem} />`}
          ${value && html`<${SampleView} sample=${value} label=${names[side]} question=${question.question} />`}
        </div>`
      })}
    </div>
  `
}
