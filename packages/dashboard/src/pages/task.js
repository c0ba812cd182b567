/** One task: an example at a chosen difficulty, its card, its config, its statistics, and a form to try an answer. */
import { fetchJson } from '../api.js'
import { useResource } from '../data-hooks.js'
import { formatCount, formatDecimal, formatDuration } from '../format.js'
import { html, useEffect, useState } from '../html.js'
import { Chip, ErrorMessage, Loading, PageHeader, Panel, StatTiles, showPending, Tile } from '../parts/common.js'
import { CopyButton } from '../parts/copy.js'
import { CardPanel, ConfigTable } from '../parts/task-panels.js'
import { TryIt } from '../parts/try-it.js'

export function TaskPage({ name }) {
  const { value: task, problem } = useResource(`tasks/${encodeURIComponent(name)}`)
  const { value: validation } = useResource(`tasks/${encodeURIComponent(name)}/validation`)
  const [rung, setRung] = useState(null)
  const [seed, setSeed] = useState(0)
  const [scoring, setScoring] = useState('hardened')
  const { item, trouble, busy } = useSampleItem(task, rung, seed)
  if (!task) return showPending({ title: name, list: 'tasks', problem })
  const { statistics } = task
  const config = rung === null ? null : task.ladder[rung].config
  return html`
    <${PageHeader} title=${html`<code>${task.name}</code>`} about=${task.description}>
      <${CopyButton} text=${task.name} what="the name of the task" />
      <${Chip} tone="accent">${task.category}<//>
      <${Chip}>${{ binary: 'binary credit', partial: 'partial credit', continuous: 'continuous credit' }[task.credit]}<//>
      <${Chip}>${task.scorer === 'native' ? 'scored in TypeScript' : 'scored by the library'}<//>
      ${task.code_hash && html`<${Chip}>your task, code ${task.code_hash}<//>`}
      <a class="end" href="#/tasks">All tasks</a>
    <//>
    <div class="grid">
      <${Panel} title="Example" width="7">
        <${Ladder} task=${task} rung=${rung} onRung=${setRung} onNext=${() => setSeed((now) => now + 1)} />
        ${trouble ? html`<${ErrorMessage} problem=${trouble} />` : item ? html`<div class="text" aria-busy=${busy} tabindex="0" role="region" aria-label="Question">${item.question}</div>` : html`<${Loading} />`}
      <//>
      <${Panel} title="Try it" width="5">
        ${item ? html`<${TryIt} key=${item.id} item=${item} />` : html`<p class="soft">The example has not loaded yet.</p>`}
      <//>
      ${!task.code_hash && html`<${CardPanel} card=${task.card} truth=${validation?.truth_table} rung=${rung} scoring=${scoring} onScoring=${setScoring} />`}
      <${Panel} title="On this server">
        <${StatTiles}>
          <${Tile} name="Items created" value=${formatCount(statistics.items)} />
          <${Tile} name="Rollouts scored" value=${formatCount(statistics.rollouts)} />
          <${Tile} name="Mean score" value=${formatDecimal(statistics.mean_score)} />
          <${Tile} name="Time to create" value=${formatDuration(statistics.make_ms === null ? null : statistics.make_ms / 1000)} />
          <${Tile} name="Time to score" value=${formatDuration(statistics.score_ms === null ? null : statistics.score_ms / 1000)} />
        <//>
      <//>
      <${Panel} title="Config" about="The fields of the library’s config for this task. Each rung sets them.">
        ${
          task.config_schema
            ? html`<${ConfigTable} schema=${task.config_schema} config=${config} />`
            : html`<p class="soft">The config schema is not available while the engine is down.</p>`
        }
      <//>
    </div>
  `
}

function Ladder({ task, rung, onRung, onNext }) {
  if (!task.adjustable)
    return html`<div class="ladder row"><p class="soft">This task has a single difficulty: ${task.not_adjustable}.</p><button type="button" onClick=${onNext}>Another example</button></div>`
  const at = rung === null ? 'library defaults' : `difficulty ${formatDecimal(task.ladder[rung].difficulty)}`
  return html`<div class="ladder">
    <div class="row">
      <label>
        <span>Rung ${rung === null ? '–' : rung + 1} of ${task.rungs}: <output>${at}</output></span>
        <input type="range" min="0" max=${task.rungs - 1} step="1" value=${rung ?? 0} onInput=${({ target }) => onRung(Number(target.value))} />
      </label>
      <button type="button" disabled=${rung === null} onClick=${() => onRung(null)}>Defaults</button>
      <button type="button" onClick=${onNext}>Another example</button>
    </div>
  </div>`
}

/** The task's stored example, or an item created for the rung and seed. Keeps the previous item until the new one arrives. */
function useSampleItem(task, rung, seed) {
  const [made, setMade] = useState(/** @type {{ item?: any, trouble?: any, busy: boolean }} */ ({ busy: false }))
  useEffect(() => {
    if (!task) return undefined
    if (rung === null && seed === 0 && task.example) {
      setMade({ item: task.example, busy: false })
      return undefined
    }
    const stop = new AbortController()
    setMade((old) => ({ ...old, busy: true }))
    const recipe = { task: task.name, seed, ...(rung !== null && { difficulty: task.ladder[rung].difficulty }) }
    const timer = setTimeout(() => {
      fetchJson('items', { method: 'POST', body: recipe, signal: stop.signal }).then(
        ({ items }) => setMade({ item: items[0], busy: false }),
        (trouble) => !stop.signal.aborted && setMade({ trouble, busy: false }),
      )
    }, 150) // debounces the slider
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [task, rung, seed])
  return made
}
