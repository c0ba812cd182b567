/** What the pages say about runs: tones and means, and how runs compare in metrics by step, settings and tasks. */
import { mean } from './chart-data.js'
import { compareByName } from './format.js'

const STATE_TONES = {
  flowing: 'good',
  idle: '',
  finished: '',
  starved_of_rollouts: 'warn',
  no_signal: 'warn',
  trainer_silent: 'warn',
  all_stale: 'bad',
  buffer_full: 'bad',
  engine_down: 'bad',
  recreated: 'bad',
  suspicious: 'bad',
}

export const RUN_STATES = Object.keys(STATE_TONES)

export function getTone(state) {
  return STATE_TONES[state?.is] ?? ''
}

/** The warnings of a kind as one: `{ kind, why, tasks }`, with the words of the first. */
export function foldWarnings(warnings) {
  const kinds = Map.groupBy(warnings, ({ kind }) => kind)
  return [...kinds].map(([kind, all]) => ({ kind, why: all[0].why, tasks: all.map(({ task }) => task) }))
}

/** The mean over all tasks, weighted by their number of rollouts. */
export function getMean(tasks, field) {
  const known = Object.values(tasks).filter((task) => task[field] !== null && task[field] !== undefined)
  const skipped = (task) => (field === 'mean_score' ? (task.skipped ?? 0) : 0)
  const weight = (task) => (task.rollouts ?? task.groups) - skipped(task)
  const all = known.reduce((sum, task) => sum + weight(task), 0)
  return all === 0 ? null : known.reduce((sum, task) => sum + task[field] * weight(task), 0) / all
}

const RECENT_STEPS = 10

/**
 * The figures of the last steps, from rows of metrics: `{ span, reward, score, noSignal, faults }`. In a run without steps, they are
 * of the last row. Undefined while these are all of the run, which then has no other figures.
 */
export function summarizeLatest(rows) {
  const hasSteps = rows.at(-1)?.step !== undefined
  const firstOf = ({ first_step, step }) => first_step ?? step // rows that are not merged are of one step
  let start = rows.length - 1
  const since = hasSteps ? rows.at(-1).step - RECENT_STEPS : 0
  while (hasSteps && start > 0 && firstOf(rows[start]) > since + 1) start--
  if (start <= 0) return undefined
  const latest = rows.slice(start)
  const average = (getValue, weight) => {
    const known = latest
      .map((row) => [getValue(row), row[weight]])
      .filter(([value, count]) => Number.isFinite(value) && count > 0)
    const all = known.reduce((sum, [, count]) => sum + count, 0)
    return all === 0 ? null : known.reduce((sum, [value, count]) => sum + value * count, 0) / all
  }
  const sum = (key) => latest.reduce((total, row) => total + (row[key] ?? 0), 0)
  return {
    span: hasSteps ? `last ${latest.at(-1).step - firstOf(latest[0]) + 1} steps` : `last ${sum('groups')} groups`,
    reward: average((row) => row['reward/mean'], 'rollouts'),
    score: average((row) => row['score/mean'], 'rollouts'),
    noSignal: average((row) => 1 - row['signal/frac'], 'groups'),
    faults: average(sumFaults, 'rollouts'),
  }
}

/** When the run last scored a group, in ms; null before the first. */
export function getLastActivity({ last_scored_at }) {
  return last_scored_at ? Date.parse(last_scored_at) : null
}

/** How a list of summaries is sorted. */
export const RUN_COLUMNS = {
  name: ({ run }) => run,
  state: ({ state }) => state?.is ?? null,
  activity: getLastActivity,
  step: ({ progress }) => progress.step,
  rollouts: ({ progress }) => progress.rollouts,
  reward: ({ recent_reward, mean_reward }) => recent_reward ?? mean_reward,
}

/** Names of runs in the `runs` field of an address, each once. */
export function parseRunNames(text, most) {
  return [...new Set(text.split(',').filter(Boolean))].slice(0, most)
}

/**
 * Puts the points of several runs on one axis. `runs`: for each run its points, undefined while they load. A row of several steps
 * has its value at each of them, because those of a longer run are wider. A run without a value at a step has a gap there. Rows
 * without a step, of runs that name none, are left out.
 */
export function alignSteps(runs, getValue) {
  const lists = runs.map((points) =>
    (points ?? []).filter(({ step }) => Number.isFinite(step)).toSorted((a, b) => a.step - b.step),
  )
  const x = [...new Set(lists.flatMap((points) => points.map(({ step }) => step)))].sort((a, b) => a - b)
  const values = lists.map((points) => {
    let k = 0
    return x.map((step) => {
      while (k < points.length && points[k].step < step) k++
      const point = points[k]
      return point && (point.first_step ?? point.step) <= step ? (getValue(point) ?? null) : null
    })
  })
  return { x, values }
}

/** Lists of runs whose settings differ in the seed only. Runs of the same seed, such as forks, stay alone. */
export function groupBySeed(runs) {
  const groups = Map.groupBy(runs, ({ run }) => JSON.stringify({ ...run.settings, seed: null }))
  return [...groups.values()].flatMap((group) => {
    const seeds = new Set(group.map(({ run }) => run.settings.seed))
    return seeds.size === group.length ? [group] : group.map((run) => [run])
  })
}

/** The mean of several lines where all have a value, and a band of one standard error on each side. */
export function averageLines(lines) {
  const columns = (lines[0] ?? []).map((_, k) => lines.map((line) => line[k]))
  const estimates = columns.map((values) => {
    if (!values.every(Number.isFinite)) return [null, null]
    const center = mean(values)
    const squares = values.reduce((sum, value) => sum + (value - center) ** 2, 0)
    return [center, Math.sqrt(squares / (values.length - 1) / values.length)]
  })
  const at = (errors) => estimates.map(([center, error]) => (center === null ? null : center + errors * error))
  return { values: at(0), band: { low: at(-1), high: at(1) } }
}

/** Names runs by what their names begin with. */
export function nameSeeds(names) {
  const [first] = names
  const end = [...first].findIndex((letter, k) => names.some((name) => name[k] !== letter))
  return `${first.slice(0, end < 0 ? undefined : end).replace(/([-_.]s(eed)?)?[-_.]?$/, '') || first}, ${names.length} seeds`
}

/** The share of rollouts with a format fault at a step; null if the step has no metrics of faults. */
export function sumFaults(step) {
  const shares = Object.entries(step).filter(([key, value]) => key.startsWith('fault/') && Number.isFinite(value))
  return shares.length === 0 ? null : shares.reduce((sum, [, share]) => sum + share, 0)
}

/** The mean difficulty over the tasks after each step, from the groups that moved the curriculum, oldest first. */
export function listDifficulties(points) {
  const levels = new Map()
  const bySteps = new Map()
  for (const { step, task, difficulty } of points ?? []) {
    levels.set(task, difficulty)
    bySteps.set(step, mean([...levels.values()]))
  }
  return [...bySteps].map(([step, difficulty]) => ({ step, difficulty }))
}

/** The values of `complexity_mode` that use a setting. `frontier` uses a target accuracy other than the default. */
const MODES_THAT_USE = {
  difficulty: ['fixed'],
  curriculum_target_accuracy: ['curriculum', 'frontier'],
  curriculum_start: ['frontier'],
}
const DEFAULT_TARGET_ACCURACY = 0.7

/** The settings of a run without those that its `complexity_mode` ignores. */
export function omitIgnoredSettings(settings) {
  const { complexity_mode: mode, curriculum_target_accuracy: target } = settings
  const isUsed = (name) =>
    (MODES_THAT_USE[name]?.includes(mode) ?? true) &&
    !(name === 'curriculum_target_accuracy' && mode === 'frontier' && target === DEFAULT_TARGET_ACCURACY)
  return Object.fromEntries(Object.entries(settings).filter(([name]) => isUsed(name)))
}

/**
 * The settings of the runs, those that differ first. `values` are as JSON, undefined where a run lacks the setting. Lists
 * are compared without regard to their order, because the order of tasks has no meaning.
 */
export function compareSettings(runs) {
  const names = [...new Set(runs.flatMap((settings) => Object.keys(settings)))].toSorted(compareByName)
  const rows = names.map((name) => {
    const values = runs.map((settings) => (settings[name] === undefined ? undefined : formatSetting(settings[name])))
    return { name, values, differs: new Set(values).size > 1 }
  })
  return rows.toSorted((a, b) => Number(b.differs) - Number(a.differs))
}

function formatSetting(value) {
  if (typeof value === 'string') return value
  const isNames = Array.isArray(value) && value.every((one) => typeof one === 'string')
  return JSON.stringify(isNames ? value.toSorted() : value)
}

/** One figure of each task in every run, null where a run lacks it. `difference`: of the last run to the first. */
export function compareTasks(runs, field) {
  const names = [...new Set(runs.flatMap((tasks) => Object.keys(tasks)))].toSorted(compareByName)
  return names.map((task) => {
    const values = runs.map((tasks) => tasks[task]?.[field] ?? null)
    const [first, last] = [values[0], values.at(-1)]
    return { task, values, difference: first === null || last === null ? null : last - first }
  })
}
