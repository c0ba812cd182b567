/** All tasks, by category, with a filter and a search. */

import { useResource } from '../data-hooks.js'
import { compareByName, formatCount, humanize } from '../format.js'
import { html, useMemo, useState } from '../html.js'
import { Chip, EmptyState, ErrorMessage, Loading, PageHeader, StatusBanner } from '../parts/common.js'

export function TasksPage() {
  const { value, problem } = useResource('tasks')
  const [search, setSearch] = useState('')
  const [category, setCategory] = useState('')
  const [credit, setCredit] = useState('')
  const shown = useMemo(() => {
    const wanted = search.trim().toLowerCase().replaceAll(' ', '_')
    return (value?.tasks ?? []).filter(
      (task) =>
        (category === '' || task.category === category) &&
        (credit === '' || task.credit === credit) &&
        (task.name.includes(wanted) || task.category.includes(wanted)),
    )
  }, [value, search, category, credit])
  if (problem) return html`<${PageHeader} title="Tasks" /><${ErrorMessage} problem=${problem} />`
  if (!value) return html`<${PageHeader} title="Tasks" /><${Loading} />`
  const categories = [...new Set(value.tasks.map((task) => task.category))].toSorted(compareByName)
  const byCategory = Map.groupBy(shown, (task) => task.category)
  return html`
    <${PageHeader} title="Tasks" about=${`The ${value.total} generators of ${value.engine.library} ${value.engine.version}: each makes items without end, and checks answers.`} />
    ${
      value.source === 'fallback' &&
      html`<${StatusBanner} tone="warn" is="The library cannot be asked" why="This list is the one built in; examples and schemas come back with the engine" />`
    }
    <div class="filters">
      <label>Search<input type="search" value=${search} placeholder="name or category" onInput=${({ target }) => setSearch(target.value)} /></label>
      <label>Category
        <select value=${category} onChange=${({ target }) => setCategory(target.value)}>
          <option value="">all</option>
          ${categories.map((name) => html`<option value=${name}>${name}</option>`)}
        </select>
      </label>
      <label>Credit
        <select value=${credit} onChange=${({ target }) => setCredit(target.value)}>
          <option value="">any</option>
          <option value="binary">right or wrong</option>
          <option value="partial">in steps</option>
          <option value="continuous">continuous</option>
        </select>
      </label>
      <span class="end" role="status">${formatCount(shown.length)} of ${formatCount(value.total)}</span>
    </div>
    ${shown.length === 0 && html`<${EmptyState}>No task fits.<//>`}
    <div class="cards">
      ${[...byCategory.keys()].toSorted(compareByName).map(
        (name) => html`<section aria-label=${name}>
          <h2>${name} <${Chip}>${byCategory.get(name).length}<//></h2>
          <ul>
            ${byCategory.get(name).map((task) => html`<${Card} task=${task} />`)}
          </ul>
        </section>`,
      )}
    </div>
  `
}

function Card({ task }) {
  const rungs = task.adjustable ? `${task.rungs} rungs` : 'not adjustable'
  return html`<li>
    <a href=${`#/tasks/${task.name}`}>
      <strong>${humanize(task.name)}</strong>
      <span>${rungs} · ${task.credit}</span>
    </a>
  </li>`
}
