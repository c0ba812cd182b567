/** What the curves of learners say: what each arm reaches on held-out questions, and after how many rollouts. */

import { SeededRandom } from '../support/seeded-random.ts'

const RESAMPLES = 10_000

/** A measurement, as learner.py prints it. */
export interface CurvePoint {
  arm: string
  seed: number
  step: number
  rollouts: number
  /** Generated in training so far; curves of 2026-11-26 have none. */
  tokens?: number
  /** The share of held-out answers that hardened scoring accepts, and the share that the library's scoring pays. */
  accuracy: number
  paid: number
  right_by_task: Record<string, number>
}

/** Shares of right answers to which rollouts and tokens are counted: the same for all arms and experiments. */
const GOALS = [0.1, 0.23, 0.35]
/** Of these, the one for tokens and for the ratio. */
const MAIN_GOAL = 0.23

/**
 * A table in Markdown: an arm in each row. A goal is reached when the mean of a measurement and its two neighbors is at least that; a run
 * that never reaches it counts with all its rollouts. The last column divides by the rollouts of the first arm; its interval
 * holds 90% of bootstrap samples of the seeds.
 */
export function summarizeCurves(points: readonly CurvePoint[]): string {
  const arms = [...Map.groupBy(points, ({ arm }) => arm)].map(([arm, ofArm]) => ({
    arm,
    curves: [...Map.groupBy(ofArm, ({ seed }) => seed).values()],
  }))
  const spent = arms.map(({ curves }) => curves.map((curve) => findGoal(MAIN_GOAL, curve).rollouts))
  const rows = arms.map(({ arm, curves }, k) => {
    const ends = curves.flatMap((curve) => curve.slice(-1))
    const excess = ends.map(({ accuracy, paid }) => paid - accuracy)
    const areas = curves.map((curve) => getMean(curve.slice(1).map(({ accuracy }) => accuracy)))
    const right = ends.map(({ accuracy }) => accuracy)
    const rollouts = GOALS.map((goal) => {
      const found = curves.map((curve) => findGoal(goal, curve))
      const reached = found.filter(({ isReached }) => isReached).length
      return `${formatMean(
        found.map((at) => at.rollouts),
        0,
      )} (${reached} of ${ends.length})`
    })
    const tokens = curves.map((curve) => findGoal(MAIN_GOAL, curve).tokens)
    const ratio = k === 0 ? '1' : formatRatio(spent[k] ?? [], spent[0] ?? [])
    const means = [right, areas].map((values) => formatMean(values))
    return [arm, ends.length, ...means, getMean(excess).toFixed(3), ...rollouts, formatMean(tokens, 0), ratio]
  })
  const head = [
    'arm',
    'seeds',
    'right at the end',
    'right, mean',
    'paid, not right',
    ...GOALS.map((goal) => `rollouts to ${goal}`),
    `tokens to ${MAIN_GOAL}`,
    'ratio',
  ]
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** What a run had spent when it reached the goal, or in all. */
function findGoal(goal: number, curve: readonly CurvePoint[]) {
  const at = curve.find((_, k) => {
    const three = curve.slice(k - 1, k + 2)
    return k > 0 && three.length === 3 && getMean(three.map(({ accuracy }) => accuracy)) >= goal
  })
  const { rollouts, tokens } = at ?? curve.at(-1) ?? { rollouts: Number.NaN }
  return { rollouts, tokens: tokens ?? Number.NaN, isReached: at !== undefined }
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
