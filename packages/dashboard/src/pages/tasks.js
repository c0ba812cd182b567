/** All tasks by category, with filters and a search field that are part of the address. */
import { useResource } from '../data-hooks.js'
import { compareByName, formatCount, formatDecimal, pluralize } from '../format.js'
import { useQueryField } from '../hooks.js'
import { html, useMemo, useState } from '../html.js'
import { Chip, EmptyState, PageHeader, StatusBanner, showPending } from '../parts/common.js'
import { FilterSelect } from '../parts/list-tools.js'

/** Wider windows show the tasks of every category, narrower ones only those of a category that is opened. */
const WIDE = '(min-width: 721px)'
/** A selection of at most this many tasks is shown in full on any width. */
const SHOWN_AT_ONCE = 12
/** From this score on, a guess earns so much that the list says it. */
const NOTABLE_GUESS = 0.05

export function TasksPage() {
  const { value, problem } = useResource('tasks')
  const [search, setSearch] = useQueryField('q')
  const [category, setCategory] = useQueryField('category')
  const [credit, setCredit] = useQueryField('credit')
  const shown = useMemo(
    () => filterTasks(value?.tasks ?? [], { search, category, credit }),
    [value, search, category, credit],
  )
  if (!value) return showPending({ title: 'Tasks', problem })
  const categories = [...new Set(value.tasks.map((task) => task.category))].toSorted(compareByName)
  const byCategory = Map.groupBy(shown, (task) => task.category)
  return html`
    <${PageHeader} title="Tasks" about=${`The ${value.total} tasks of ${value.engine.library} ${value.engine.version}. Each one generates any number of items and scores answers.`} />
    ${
      value.source === 'fallback' &&
      html`<${StatusBanner} tone="warn" is="The engine is down" why="This is the built-in list of tasks. Examples and config schemas are available when the engine is up" />`
    }
    ${value.problems.map((text) => html`<${StatusBanner} key=${text} tone="warn" is="A file of TASKS_PATH" why=${text} />`)}
    <div class="filters">
      <label>Search<input type="search" value=${search} placeholder="name or what it asks for" onInput=${({ target }) => setSearch(target.value)} /></label>
      <${FilterSelect} label="Category" value=${category} any="all" options=${categories} onChange=${setCategory} />
      <${FilterSelect} label="Credit" value=${credit} any="any" options=${['binary', 'partial', 'continuous']} onChange=${setCredit} />
      <span class="end" role="status">${formatCount(shown.length)} of ${formatCount(value.total)}</span>
    </div>
    ${shown.length === 0 && html`<${EmptyState}>No task matches the filters.<//>`}
    <div class="cards">
      ${[...byCategory.keys()]
        .toSorted(compareByName)
        .map(
          (name) =>
            html`<${Category} key=${name} name=${name} tasks=${byCategory.get(name)} all=${shown.length <= SHOWN_AT_ONCE || category !== ''} />`,
        )}
    </div>
  `
}

/** The words of the search may be in the name, with spaces for underscores, in the category or in the description. */
function filterTasks(tasks, { search, category, credit }) {
  const wanted = search.trim().toLowerCase()
  return tasks.filter(
    (task) =>
      (category === '' || task.category === category) &&
      (credit === '' || task.credit === credit) &&
      (task.name.includes(wanted.replaceAll(' ', '_')) ||
        task.category.includes(wanted) ||
        task.description?.toLowerCase().includes(wanted)),
  )
}

function Category({ name, tasks, all }) {
  const [open, setOpen] = useState(matchMedia(WIDE).matches)
  return html`<details open=${open || all} onToggle=${({ target }) => !all && setOpen(target.open)}>
    <summary><h2>${name}</h2> <${Chip}>${tasks.length}<//></summary>
    <ul>
      ${tasks.map((task) => html`<${Card} key=${task.name} task=${task} />`)}
    </ul>
  </details>`
}

function Card({ task }) {
  const rungs = task.adjustable ? pluralize(task.rungs, 'rung') : 'one rung'
  const guess = task.guess_floor >= NOTABLE_GUESS && ` · best guess scores ${formatDecimal(task.guess_floor)}`
  return html`<li>
    <a href=${`#/tasks/${task.name}`}>
      <strong>${task.name}</strong>
      ${task.description && html`<p>${task.description}</p>`}
      <span>${rungs} · ${task.credit} credit${guess}</span>
    </a>
  </li>`
}
