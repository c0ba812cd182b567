/** What the pages say about an eval: its status, its names, and which evals fit the filters of a list. */
import { compareByName, formatCount, formatPercent, humanize } from './format.js'

const STATUS_TONES = { done: 'good', running: 'accent', queued: '', failed: 'bad', cancelled: 'warn' }
/** Share of failed samples from which a finished eval is amber: below it, they hardly change the score. */
const MANY_FAILED = 0.1

/** Whether an eval is still queued or running, by the rule of contract/eval.ts. */
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
export function modelName({ model }) {
  return model?.name ?? 'your own completions'
}

/** Labels as a list of texts, whichever way they were given. */
export function listLabels({ labels }) {
  if (Array.isArray(labels)) return labels
  return Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`)
}

/** The score that a list shows and sorts by; null if there is none yet. */
export function headlineScore({ difficulty_at_half, result, progress }) {
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
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  return evals.filter((one) => {
    const labels = listLabels(one)
    if (model !== '' && modelName(one) !== model) return false
    if (suite !== '' && one.suite.name !== suite) return false
    if (run !== '' && one.run !== run) return false
    if (label !== '' && !labels.includes(label)) return false
    const text = [one.id, modelName(one), one.suite.name, one.run ?? '', one.status, ...labels].join(' ').toLowerCase()
    return words.every((word) => text.includes(word))
  })
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
