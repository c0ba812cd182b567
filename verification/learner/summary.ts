/** What the curves of learners say: what each arm reaches on held-out questions at the end. */

/** A measurement, as learner.py prints it. */
export interface CurvePoint {
  arm: string
  seed: number
  step: number
  rollouts: number
  /** The share of held-out answers that hardened scoring accepts, and the share that the library's scoring pays. */
  accuracy: number
  paid: number
  seconds: number
}

/** A table in Markdown: an arm in each row. The accuracy to which rollouts are counted lies halfway between the base model and the best arm. */
export function summarizeCurves(points: readonly CurvePoint[]): string {
  const runs = Map.groupBy(points, ({ arm, seed }) => `${arm} ${seed}`)
  const starts = points.filter(({ step }) => step === 0)
  const arms = [...new Set(points.map(({ arm }) => arm))]
  const endsOf = (arm: string) => [...runs.values()].flatMap((curve) => (curve[0]?.arm === arm ? curve.slice(-1) : []))
  const best = Math.max(...arms.map((arm) => getMean(endsOf(arm).map(({ accuracy }) => accuracy))))
  const goal = (getMean(starts.map(({ accuracy }) => accuracy)) + best) / 2
  const rows = arms.map((arm) => {
    const ends = endsOf(arm)
    const reached = [...runs.values()].flatMap((curve) => {
      const first = curve[0]?.arm === arm ? curve.find(({ accuracy }) => accuracy >= goal) : undefined
      return first ? [first.rollouts] : []
    })
    const right = ends.map(({ accuracy }) => accuracy)
    const excess = ends.map(({ accuracy, paid }) => paid - accuracy)
    return [
      arm,
      ends.length,
      formatMean(right),
      getMean(excess).toFixed(3),
      reached.length === 0 ? 'never' : `${Math.round(getMean(reached))} (${reached.length} of ${ends.length})`,
    ]
  })
  const head = ['arm', 'seeds', 'right at the end', 'paid, not right', `rollouts to ${goal.toFixed(2)}`]
  const table = [head, head.map(() => '---'), ...rows]
  return table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** A measurement, as tries.py prints it. */
export interface TriesPoint {
  arm: string
  seed: number
  step: number
  rollouts: number
  /** Generated in training so far. */
  tokens: number
  /** The shares of held-out answers that are right at the first try, and after the second. */
  first: number
  last: number
}

/** A table in Markdown: an arm in each row, and what it reached after its last step. */
export function summarizeTries(points: readonly TriesPoint[]): string {
  const rows = [...Map.groupBy(points, ({ arm }) => arm)].map(([arm, ofArm]) => {
    const lastStep = Math.max(...ofArm.map(({ step }) => step))
    const ends = ofArm.filter(({ step }) => step === lastStep)
    const [first, last] = [ends.map((point) => point.first), ends.map((point) => point.last)]
    const recovered = ends.map((point) => (point.last - point.first) / (1 - point.first))
    const tokens = Math.round(getMean(ends.map((point) => point.tokens)))
    return [arm, ends.length, tokens, ...[first, last, recovered].map(formatMean)]
  })
  const head = ['arm', 'seeds', 'tokens', 'right at the first try', 'right after two tries', 'recovered']
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function formatMean(values: readonly number[]): string {
  const error = getStandardError(values)
  return `${getMean(values).toFixed(3)}${error === undefined ? '' : ` ± ${error.toFixed(3)}`}`
}

function getMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Of the mean; undefined for a single value. */
function getStandardError(values: readonly number[]): number | undefined {
  if (values.length < 2) return undefined
  const mean = getMean(values)
  return Math.sqrt(getMean(values.map((value) => (value - mean) ** 2)) / (values.length - 1))
}
