/** One run: how it is in a sentence, its figures over training, its tasks, batches, last groups and dumps. */
import { count, fixed, percent, plural, words } from '../format.js'
import { html, useState } from '../html.js'
import { readLines } from '../lines.js'
import { useEvents, useLoad } from '../loading.js'
import { BatchPanel } from '../parts/batch-panel.js'
import { Chip, Head, Live, Loading, Panel, State, Tiles, Trouble, Unheard } from '../parts/bits.js'
import { DumpsPanel } from '../parts/dumps-panel.js'
import { GroupsPanel } from '../parts/groups-panel.js'
import { HeatPanel } from '../parts/heat-panel.js'
import { meanOf, toneOf } from '../parts/runs-table.js'
import { SettingsPanel } from '../parts/settings-panel.js'
import { StepCharts } from '../parts/step-charts.js'
import { TasksTable } from '../parts/tasks-table.js'

export function RunPage({ name }) {
  const path = `runs/${encodeURIComponent(name)}`
  const { value, problem, at } = useLoad(path)
  const [heard, setHeard] = useState(undefined)
  const events = useEvents(value ? `events?run=${encodeURIComponent(name)}` : null, (event, data) => {
    if (event === 'run') setHeard(data)
  })
  const run = heard ?? value
  if (problem && !run)
    return html`<${Head} title=${name}><a class="end" href="#/runs">All runs</a><//><${Trouble} problem=${problem} />`
  if (!run) return html`<${Head} title=${name} /><${Loading} />`
  return html`<${Known} run=${run} path=${path} events=${events} at=${at} />`
}

function Known({ run, path, events, at }) {
  const { progress, state, tasks, settings } = run
  // What has been trained on changes with the step; what came in changes all the time.
  const steps = useLoad(`${path}/metrics`, { load: readLines, version: progress.step })
  const history = useLoad(`${path}/history`, { version: Math.floor(progress.scored_groups / 8) })
  const faults = Object.values(progress.faults).reduce((a, b) => a + b, 0)
  const noSignal = progress.no_signal.easy + progress.no_signal.hard
  return html`
    <${Head} title=${run.run}>
      <${Chip}>${settings.preset}<//><${Chip}>${{ none: 'library defaults', fixed: 'fixed difficulty', random: 'random difficulty', curriculum: 'curriculum' }[settings.complexity_mode]}<//>
      <${Live} live=${events.live} />
    <//>
    ${!events.live && (events.at || events.problem) && html`<${Unheard} at=${events.at ?? at} problem=${events.problem} />`}
    ${state && html`<${State} tone=${toneOf(state)} is=${state.is} why=${state.why} from=${state.since} />`}
    <${Tiles}
      tiles=${[
        ['Step', progress.step === null || progress.step === undefined ? '–' : count(progress.step)],
        ['Rollouts', count(progress.rollouts), plural(progress.groups, 'group')],
        ['Mean reward', fixed(meanOf(tasks, 'mean_reward')), `score ${fixed(meanOf(tasks, 'mean_score'))}`],
        [
          'No signal',
          percent(progress.scored_groups > 0 ? noSignal / progress.scored_groups : null),
          `${count(progress.no_signal.easy)} easy, ${count(progress.no_signal.hard)} hard`,
        ],
        [
          'Format faults',
          percent(progress.rollouts > 0 ? faults / progress.rollouts : null, 1),
          mostOf(progress.faults),
        ],
        ['Buffered', count(progress.buffered_groups), `${count(progress.queued_groups)} queued`],
      ]}
    />
    <${StepCharts} steps=${steps.value} problem=${steps.problem} />
    <${HeatPanel} history=${history.value?.points} steps=${steps.value} problem=${steps.problem ?? history.problem} tasks=${tasks} />
    <div class="grid">
      <${BatchPanel} run=${run} width="w5" />
      <${DumpsPanel} run=${run.run} dumps=${progress.dumps} width="w7" />
    </div>
    <${GroupsPanel} path=${path} tasks=${Object.keys(tasks)} settings=${settings} />
    <div class="grid">
      <${Panel} title="Tasks" width="w12"><${TasksTable} tasks=${tasks} /><//>
      <${Panel} title="Settings" width="w12"><${SettingsPanel} settings=${settings} /><//>
    </div>
  `
}

function mostOf(faults) {
  const [first] = Object.entries(faults).toSorted(([, a], [, b]) => b - a)
  return first ? `mostly ${words(first[0])}` : 'none so far'
}
