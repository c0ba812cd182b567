/** One run: its state and figures on all views; metrics, tasks and batches; its groups; its settings and dumps. */

import { useEventStream, useMetricRows, useResource, useThrottled } from '../data-hooks.js'
import { formatCount, formatDecimal, formatPercent, humanize, pluralize, toSentence } from '../format.js'
import { useAfterPaint } from '../hooks.js'
import { html, useMemo, useState } from '../html.js'
import {
  Chip,
  ConnectionLostBanner,
  Help,
  LiveIndicator,
  PageHeader,
  Panel,
  StatTiles,
  StatusBanner,
  showPending,
  Tabs,
  Tile,
} from '../parts/common.js'
import { DiagnosisPanel } from '../parts/diagnosis-panel.js'
import { EvalCurves } from '../parts/eval-curves.js'
import { FlowPanel } from '../parts/flow-panel.js'
import { FrontierPanel } from '../parts/frontier-panel.js'
import { HeatPanel } from '../parts/heat-panel.js'
import { HistogramPanel } from '../parts/histogram-panel.js'
import { RescorePanel } from '../parts/rescore-panel.js'
import { BatchPanel, DumpsPanel, NotesPanel, SettingsPanel } from '../parts/run-panels.js'
import { StepCharts } from '../parts/step-charts.js'
import { TasksTable } from '../parts/tasks-table.js'
import { foldWarnings, getMean, getTone, summarizeLatest } from '../run-facts.js'
import { MAX_COMPARED_RUNS } from './compare-runs.js'
import { RunGroups } from './run-groups.js'

export function RunPage({ name, view = 'overview', id }) {
  const path = `runs/${encodeURIComponent(name)}`
  const { value, problem, at } = useResource(path)
  const [heard, setHeard] = useState(undefined)
  const events = useEventStream(value ? `events?run=${encodeURIComponent(name)}` : null, (event, data) => {
    if (event === 'run') setHeard(data)
  })
  const run = heard ?? value
  if (!run) return showPending({ title: name, list: 'runs', problem })
  return html`<${RunDetails} run=${run} path=${path} events=${events} at=${at} view=${view} id=${id} />`
}

function RunDetails({ run, path, events, at, view, id }) {
  const { progress, state, settings, warnings } = run
  const address = `#/${path}`
  const steps = useMetricRows(`${path}/metrics`, { version: progress.step ?? progress.scored_groups })
  const changes = [settings, warnings.map(({ kind, task }) => [kind, task])]
  const marks = useResource(`${path}/marks`, { version: useThrottled(JSON.stringify(changes), 3000) })
  const latest = useMemo(() => summarizeLatest(steps.value ?? []), [steps.value])
  return html`
    <${PageHeader} title=${run.run}>
      <${Chip}>${settings.preset}<//><${Chip}>${{ none: 'library defaults', fixed: 'fixed difficulty', random: 'random difficulty', curriculum: 'curriculum', frontier: 'frontier' }[settings.complexity_mode]}<//>
      ${settings.tags.map((tag) => html`<${Chip} tone="accent">${tag}<//>`)}
      <${LiveIndicator} live=${events.live} />
    <//>
    ${settings.notes && html`<p class="notes">${settings.notes}</p>`}
    ${!events.live && (events.at || events.problem) && html`<${ConnectionLostBanner} at=${events.at ?? at} problem=${events.problem} />`}
    ${state && state.is !== 'suspicious' && html`<${StatusBanner} tone=${getTone(state)} is=${state.is} why=${state.why} from=${state.since} />`}
    ${warnings.length > 0 && html`<${WarningBanner} warnings=${warnings} marks=${marks.value?.marks} address=${address} />`}
    <${Family} run=${run} />
    <${StatTiles}>
      <${Tile} name="Step" value=${formatCount(progress.step)} />
      <${Tile} name="Rollouts" value=${formatCount(progress.rollouts)} note=${pluralize(progress.groups, 'group')} />
      <${LatestTiles} run=${run} latest=${latest} />
      <${Tile} name=${html`Buffered <${Help} about="Buffered">Scored groups that wait for the trainer’s next batch. Queued groups wait to be scored.<//>`} value=${formatCount(progress.buffered_groups)} note=${`${formatCount(progress.queued_groups)} queued`} />
    <//>
    <${Tabs}
      label="Views of the run"
      view=${view}
      tabs=${[
        ['overview', 'Overview', address],
        ['groups', 'Groups', `${address}/groups`],
        ['rescore', 'Score again', `${address}/rescore`],
        ['settings', 'Settings', `${address}/settings`],
      ]}
    />
    ${view === 'overview' && html`<${RunOverview} run=${run} path=${path} steps=${steps} marks=${marks} />`}
    ${view === 'groups' && html`<${RunGroups} run=${run} path=${path} id=${id} />`}
    ${view === 'rescore' && html`<${RescorePanel} run=${run} path=${path} />`}
    ${view === 'settings' && html`<${NotesPanel} run=${run} path=${path} /><${Panel} title="Settings"><${SettingsPanel} settings=${settings} /><//>`}
  `
}

/** The most useful warning, since when it holds, the groups that it is about, and the names of the others. */
function WarningBanner({ warnings, marks = [], address }) {
  const [first] = warnings
  const mark = marks.find(({ kind, text, task }) => kind === 'warning' && text === first.kind && task === first.task)
  const since = typeof mark?.step === 'number' ? ` Noticed at step ${formatCount(mark.step)}.` : ''
  const query = first.task === null ? '' : `?task=${encodeURIComponent(first.task)}`
  const others = foldWarnings(warnings.slice(1))
  const more = others.map(({ kind, tasks }) =>
    [humanize(kind), tasks.filter(Boolean).join(', ')].filter(Boolean).join(' of '),
  )
  const also = more.length > 0 ? ` Also: ${more.join('; ')}.` : ''
  return html`<${StatusBanner} tone="bad" is=${pluralize(warnings.length, 'warning')} why=${`${toSentence(first.why)}${since}${also}`}>
    <a href=${`${address}/groups${query}`}>Groups</a>
  <//>`
}

/** Where the run was forked from, and its forks, with a link that compares them. */
function Family({ run: { run, forked_from: origin, forks = [] } }) {
  if (!origin && forks.length === 0) return null
  const names = [origin?.run, run, ...forks].filter(Boolean).slice(0, MAX_COMPARED_RUNS)
  const draw = (name) => html`<a href=${`#/runs/${encodeURIComponent(name)}`}>${name}</a> `
  return html`<p class="soft">
    ${origin && html`Forked from ${draw(origin.run)} ${origin.step !== null && `after step ${formatCount(origin.step)}`}. `}
    ${forks.length > 0 && html`${forks.length === 1 ? 'Fork' : 'Forks'}: ${forks.map(draw)}· `}
    <a href=${`#/compare?runs=${names.map(encodeURIComponent).join(',')}`}>Compare</a>
  </p>`
}

/** The figures of the last steps, with those of the whole run below: a collapse hardly shows in a mean over all steps. */
function LatestTiles({ run: { progress, tasks }, latest }) {
  const { easy, hard, masked = 0, lone_voter = 0 } = progress.no_signal
  const faults = Object.values(progress.faults).reduce((a, b) => a + b, 0)
  const whole = {
    reward: getMean(tasks, 'mean_reward'),
    noSignal: progress.scored_groups > 0 ? (easy + hard + masked + lone_voter) / progress.scored_groups : null,
    faults: progress.rollouts > 0 ? faults / progress.rollouts : null,
  }
  const place = latest ? `, ${latest.span}` : ''
  const draw = (name, key, format, { more, help } = /** @type {any} */ ({})) => {
    const note = [latest && `whole run ${format(whole[key])}`, more].filter(Boolean).join('; ')
    return html`<${Tile} name=${html`${name}${place} ${help && html`<${Help} about=${name}>${help}<//>`}`} value=${format((latest ?? whole)[key])} note=${note} />`
  }
  const [unusable, signal] = [masked + lone_voter, `${formatCount(easy)} easy, ${formatCount(hard)} hard`]
  return html`
    ${draw('Mean reward', 'reward', formatDecimal, { more: `score ${formatDecimal(latest?.score ?? getMean(tasks, 'mean_score'))}` })}
    ${draw('No signal', 'noSignal', formatPercent, {
      more: unusable > 0 ? `${signal}, ${formatCount(unusable)} with fewer than two usable rollouts` : signal,
      help: 'The share of scored groups that teach nothing, because all of their rollouts are right (easy) or all are wrong (hard). The counts are of the whole run.',
    })}
    ${draw('Format faults', 'faults', (share) => formatPercent(share, 1), { more: getMaxOf(progress.faults) })}
  `
}

function RunOverview({ run, path, steps, marks }) {
  const { progress, tasks } = run
  const hasGroups = progress.scored_groups > 0
  const hasCharts = useAfterPaint(steps.value !== undefined || steps.problem !== undefined)
  return html`
    <${StepCharts} run=${run} steps=${steps.value} marks=${marks.value?.marks} problem=${steps.problem} />
    ${
      hasCharts &&
      html`
        <${EvalCurves} run=${run} />
        ${hasGroups && html`<${HeatPanel} run=${run} path=${path} /><${HistogramPanel} run=${run} path=${path} />`}
        <${FrontierPanel} run=${run} path=${path} />
      `
    }
    <${FlowPanel} path=${path} />
    ${hasGroups && html`<div class="grid"><${DiagnosisPanel} run=${run} /></div>`}
    <div class="grid">
      <${BatchPanel} run=${run} width="5" />
      <${DumpsPanel} run=${run} width="7" />
    </div>
    ${Object.keys(tasks).length > 0 && html`<${TasksTable} tasks=${tasks} />`}
  `
}

function getMaxOf(faults) {
  const [first] = Object.entries(faults).toSorted(([, a], [, b]) => b - a)
  return first ? `mostly ${humanize(first[0])}` : undefined
}
