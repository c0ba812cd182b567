/** All tasks by category, with filters and a search field. */

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
    <${PageHeader} title="Tasks" about=${`The ${value.total} tasks of ${value.engine.library} ${value.engine.version}. Each one generates any number of items and scores answers.`} />
    ${
      value.source === 'fallback' &&
      html`<${StatusBanner} tone="warn" is="The engine is down" why="This is the built-in list of tasks. Examples and config schemas are available when the engine is up" />`
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
          <option value="binary">binary</option>
          <option value="partial">partial</option>
          <option value="continuous">continuous</option>
        </select>
      </label>
      <span class="end" role="status">${formatCount(shown.length)} of ${formatCount(value.total)}</span>
    </div>
    ${shown.length === 0 && html`<${EmptyState}>No task matches the filters.<//>`}
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
  const rungs = task.adjustable ? `${task.rungs} difficulty rungs` : 'single difficulty'
  return html`<li>
    <a href=${`#/tasks/${task.name}`}>
      <strong>${humanize(task.name)}</strong>
      <span>${rungs} · ${task.credit}</span>
    </a>
  </li>`
}
