/** What the curves of learners say: what each arm reaches on held-out questions, and after how many rollouts. */

import { SeededRandom } from '../support/seeded-random.ts'

const RESAMPLES = 10_000

/** A measurement, as learner.py prints it. */
export interface CurvePoint {
  arm: string
  seed: number
  step: number
  rollouts: number
  /** The share of held-out answers that hardened scoring accepts, and the share that the library's scoring pays. */
  accuracy: number
  paid: number
  right_by_task: Record<string, number>
}

/**
 * A table in Markdown: an arm in each row. The accuracy to which rollouts are counted lies halfway between the base model and the best
 * arm. A run that never reaches it counts with all its rollouts. The last column divides by the rollouts of the first arm; its interval
 * holds 90% of bootstrap samples of the seeds.
 */
export function summarizeCurves(points: readonly CurvePoint[]): string {
  const goal = getHalfway(points)
  const arms = Map.groupBy(points, ({ arm }) => arm)
  const curves = [...arms.values()].map((ofArm) => [...Map.groupBy(ofArm, ({ seed }) => seed).values()])
  const spent = curves.map((ofArm) => ofArm.map((curve) => getRolloutsTo(goal, curve)))
  const rows = [...arms.keys()].map((arm, k) => {
    const ends = (curves[k] ?? []).flatMap((curve) => curve.slice(-1))
    const excess = ends.map(({ accuracy, paid }) => paid - accuracy)
    const mean = (curves[k] ?? []).map((curve) => getMean(curve.slice(1).map(({ accuracy }) => accuracy)))
    const right = ends.map(({ accuracy }) => accuracy)
    const reached = (curves[k] ?? []).filter((curve) => curve.some(({ accuracy }) => accuracy >= goal)).length
    const rollouts = `${formatMean(spent[k] ?? [], 0)} (${reached} of ${ends.length})`
    const ratio = k === 0 ? '1' : formatRatio(spent[k] ?? [], spent[0] ?? [])
    return [arm, ends.length, formatMean(right), formatMean(mean), getMean(excess).toFixed(3), rollouts, ratio]
  })
  const head = [
    'arm',
    'seeds',
    'right at the end',
    'right, mean',
    'paid, not right',
    `rollouts to ${goal.toFixed(2)}`,
    'ratio',
  ]
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function getHalfway(points: readonly CurvePoint[]): number {
  const lastStep = Math.max(...points.map(({ step }) => step))
  const ends = Map.groupBy(
    points.filter(({ step }) => step === lastStep),
    ({ arm }) => arm,
  )
  const best = Math.max(...[...ends.values()].map((ofArm) => getMean(ofArm.map(({ accuracy }) => accuracy))))
  return (getMean(points.filter(({ step }) => step === 0).map(({ accuracy }) => accuracy)) + best) / 2
}

/** At the first measurement that reaches the goal, else at the last one. */
function getRolloutsTo(goal: number, curve: readonly CurvePoint[]): number {
  return (curve.find(({ accuracy }) => accuracy >= goal) ?? curve.at(-1))?.rollouts ?? Number.NaN
}

function formatRatio(values: readonly number[], others: readonly number[]): string {
  const random = new SeededRandom(1)
  const resample = (from: readonly number[]) => getMean(from.map(() => random.pick(from)))
  const ratios = Array.from({ length: RESAMPLES }, () => resample(values) / resample(others)).toSorted((a, b) => a - b)
  const at = (share: number) => (ratios[Math.floor(share * RESAMPLES)] ?? Number.NaN).toFixed(2)
  return `${(getMean(values) / getMean(others)).toFixed(2)} (${at(0.05)} to ${at(0.95)})`
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
    return [arm, ends.length, tokens, ...[first, last, recovered].map((shares) => formatMean(shares))]
  })
  const head = ['arm', 'seeds', 'tokens', 'right at the first try', 'right after two tries', 'recovered']
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** A measurement, as keys.py prints it. */
export interface KeysPoint {
  arm: string
  seed: number
  step: number
  rollouts: number
  tasks: Record<string, KeysShares>
}

interface KeysShares {
  /** The share of wrong keys among the questions of the task. */
  wrong_keys: number
  /** Shares of answers that are right where the key is right, that are right where it is wrong, and that equal the wrong key. */
  right: number
  recovered: number
  misled: number
}

/** A table in Markdown: a task and an arm in each row, and what it reached after its last step. */
export function summarizeKeys(points: readonly KeysPoint[]): string {
  const lastStep = Math.max(...points.map(({ step }) => step))
  const tasks = Object.keys(points[0]?.tasks ?? {})
  const rows = tasks.flatMap((task) =>
    [...Map.groupBy(points, ({ arm }) => arm)].flatMap(([arm, ofArm]) => [
      summarizeShares(task, `${arm}, base model`, getSharesAt(0, task, ofArm)),
      summarizeShares(task, arm, getSharesAt(lastStep, task, ofArm)),
    ]),
  )
  const shares = ['wrong keys', 'right, key right', 'right, key wrong', 'wrong key given', 'right, all questions']
  const head = ['task', 'arm', 'seeds', ...shares]
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function getSharesAt(step: number, task: string, points: readonly KeysPoint[]): KeysShares[] {
  return points.filter((point) => point.step === step).flatMap(({ tasks }) => tasks[task] ?? [])
}

function summarizeShares(task: string, arm: string, shares: readonly KeysShares[]): (string | number)[] {
  const all = shares.map(({ wrong_keys, right, recovered }) => (1 - wrong_keys) * right + wrong_keys * recovered)
  const columns = [
    shares.map(({ right }) => right),
    shares.map(({ recovered }) => recovered),
    shares.map(({ misled }) => misled),
    all,
  ]
  const wrongKeys = getMean(shares.map(({ wrong_keys }) => wrong_keys)).toFixed(3)
  return [task, arm, shares.length, wrongKeys, ...columns.map((values) => formatMean(values))]
}

function formatMean(values: readonly number[], digits = 3): string {
  const error = getStandardError(values)
  return `${getMean(values).toFixed(digits)}${error === undefined ? '' : ` ± ${error.toFixed(digits)}`}`
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
