/** What the pages say about an eval: its status and names, which evals fit the filters of a list, and how two of them differ. */
import { compareByName, formatCount, formatDecimal, formatPercent, formatSigned, humanize } from './format.js'
import { matchWords } from './sorting.js'

const STATUS_TONES = { done: 'good', running: 'accent', queued: '', failed: 'bad', cancelled: 'warn' }
/** Share of failed samples from which a finished eval is amber: below it, they hardly change the score. */
const MANY_FAILED = 0.1

/** Whether an eval is still queued or running, by the rule of contract/src/generation-job.ts. */
export function isActive(status) {
  return status === 'queued' || status === 'running'
}

/**
 * The status in words with its tone. `progress` may be newer than `status`: an eval with finished samples is not queued.
 * `share`: adds how much of a running eval is done.
 */
export function describeStatus({ status, progress }, { share = false } = {}) {
  const { done = 0, total = 0, failed = 0 } = progress ?? {}
  if (isActive(status)) {
    const current = done > 0 ? 'running' : status
    const part = share && done > 0 && total > 0 ? `, ${formatPercent(done / total)}` : ''
    return { tone: STATUS_TONES[current], text: `${current}${part}` }
  }
  if (status !== 'done' || failed === 0) return { tone: STATUS_TONES[status] ?? '', text: humanize(status) }
  return {
    tone: failed >= MANY_FAILED * total ? 'warn' : 'good',
    text: `done, ${formatCount(failed)} of ${formatCount(total)} failed`,
  }
}

/** The name of the model, or words for an eval whose completions are posted. */
export function modelName(one) {
  const labels = listLabels(one)
  return one.model?.name ?? `your own completions${labels.length > 0 ? ` (${labels.join(', ')})` : ''}`
}

/** Labels as a list of texts, whichever way they were given. */
export function listLabels({ labels }) {
  if (Array.isArray(labels)) return labels
  return Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`)
}

/** The score that a list shows and sorts by; null if there is none yet. */
function headlineScore({ difficulty_at_half, result, progress }) {
  return difficulty_at_half ?? result?.mean_score ?? progress?.mean_score ?? null
}

/** What the list of evals sorts by; see sorting.js. */
export const EVAL_COLUMNS = {
  model: modelName,
  suite: ({ suite }) => suite.name,
  run: ({ run }) => run,
  created: ({ created_at }) => Date.parse(created_at),
  score: headlineScore,
}

/** Empty filters match everything. `q` is searched in everything that names an eval. */
export function filterEvals(evals, { q = '', model = '', suite = '', run = '', label = '' }) {
  const fits = matchWords(q, (one) => [
    one.id,
    modelName(one),
    one.suite.name,
    one.run ?? '',
    one.status,
    ...listLabels(one),
  ])
  return evals.filter(
    (one) =>
      (model === '' || modelName(one) === model) &&
      (suite === '' || one.suite.name === suite) &&
      (run === '' || one.run === run) &&
      (label === '' || listLabels(one).includes(label)) &&
      fits(one),
  )
}

/** The choices of each filter, sorted by name. */
export function listFilterOptions(evals) {
  const sorted = (names) => [...new Set(names)].filter(Boolean).toSorted(compareByName)
  return {
    model: sorted(evals.map(modelName)),
    suite: sorted(evals.map(({ suite }) => suite.name)),
    run: sorted(evals.map(({ run }) => run)),
    label: sorted(evals.flatMap(listLabels)),
  }
}

/**
 * Learning curves: for each suite and model the mean score with its interval at every step, null where there is none. Of
 * several evals at a step, the newest counts. `namesRun`: tells the curves of several runs apart.
 */
export function buildEvalCurves(evals, { namesRun = false } = {}) {
  const done = evals.filter(
    ({ run, step, result, difficulty_at_half: half }) =>
      run !== null && step !== null && half === null && result?.mean_score != null,
  )
  const x = [...new Set(done.map(({ step }) => step))].sort((a, b) => a - b)
  const groups = Map.groupBy(done, (one) => [...(namesRun ? [one.run] : []), one.suite.name, modelName(one)].join(', '))
  const lines = [...groups].map(([name, some]) => {
    const at = new Map(some.toReversed().map((one) => [one.step, one.result])) // lists are newest first
    const column = (pick) => x.map((step) => (at.has(step) ? (pick(at.get(step)) ?? null) : null))
    return {
      name,
      values: column(({ mean_score }) => mean_score),
      low: column(({ confidence_95: bounds }) => bounds?.[0]),
      high: column(({ confidence_95: bounds }) => bounds?.[1]),
    }
  })
  return { x, lines }
}

const LIMITS = [0.05, 0.1, 0.2, 0.5, 1]

/** The end of an axis around 0 on which all rows fit. Scores are in [0, 1], so no difference is beyond 1. */
export function chooseLimit(rows) {
  const most = rows.reduce((max, { difference, confidence_95 }) => {
    const ends = [difference ?? 0, ...(confidence_95 ?? [])].map(Math.abs)
    return Math.max(max, ...ends)
  }, 0)
  return LIMITS.find((limit) => limit >= Math.min(1, most)) ?? 1
}

/** Places on the axis in percent: of the difference, and of the ends of its interval, null if there is none. */
export function placeInterval({ difference, confidence_95 }, limit) {
  const place = (value) => 50 + 50 * Math.min(1, Math.max(-1, value / limit))
  if (difference === null || difference === undefined) return { at: null, from: null, to: null }
  const [low, high] = confidence_95 ?? []
  return {
    at: place(difference),
    from: low === undefined ? null : place(low),
    to: high === undefined ? null : place(high),
  }
}

/** Whether the interval excludes 0. */
export function isClear({ confidence_95: bounds }) {
  return Boolean(bounds) && (bounds[0] > 0 || bounds[1] < 0)
}

export function formatInterval({ confidence_95: bounds }) {
  return bounds ? `${formatSigned(bounds[0])} to ${formatSigned(bounds[1])}` : 'too few items'
}

/** p-values near 0 and 1 look like errors if they are rounded to 0.000 and 1.000. */
export function formatP(p) {
  if (p === null || p === undefined) return 'too few items'
  if (p < 0.001) return '< 0.001'
  return p > 0.999 ? '1' : formatDecimal(p, 3)
}

/** The number of items that only one of two evals answers correctly. */
export function countFlips({ only_a_right, only_b_right }) {
  return only_a_right + only_b_right
}
