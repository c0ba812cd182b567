/** What the curves of learners say: each arm's held-out accuracy at the end, what it is paid beyond that, and the rollouts to a fixed accuracy. */

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

/** A table in Markdown: an arm in each row. The fixed accuracy lies halfway between the base model and the best arm. */
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
    const error = getStandardError(right)
    return [
      arm,
      ends.length,
      `${getMean(right).toFixed(3)}${error === undefined ? '' : ` ± ${error.toFixed(3)}`}`,
      getMean(excess).toFixed(3),
      reached.length === 0 ? 'never' : `${Math.round(getMean(reached))} (${reached.length} of ${ends.length})`,
    ]
  })
  const head = ['arm', 'seeds', 'right at the end', 'paid, not right', `rollouts to ${goal.toFixed(2)}`]
  const table = [head, head.map(() => '---'), ...rows]
  return table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
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
