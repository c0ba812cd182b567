/** Linear models that answer a question by its words, symbols and counts, with the answer of another item. */
import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import { type EncodedExamples, type Example, encodeExamples } from './question-features.ts'

/** Answers by the question alone. */
export type Predictor = (question: string) => string

/** Gives each answer a value; the highest is chosen. Undefined if the answers do not suit the model. */
type Fit = (examples: EncodedExamples) => ((features: Float64Array) => ArrayLike<number>) | undefined

const MODELS: readonly Fit[] = [
  ({ answers }) => {
    const values = answers.map((_, k) => -k) // the most common answer
    return () => values
  },
  fitNaiveBayes,
  (examples) => fitLogisticRegression(examples, 0.002),
  (examples) => fitLogisticRegression(examples, 0.05),
  fitRidgeRegression,
]

/** Share of the examples on which the models are compared before the best of them is fitted to all. */
const COMPARED_SHARE = 0.3

export function fitBestModel(examples: readonly Example[]): Predictor {
  const [fitted, compared] = splitAt(examples, Math.round(examples.length * (1 - COMPARED_SHARE)))
  const encoded = encodeExamples(fitted)
  const rights = MODELS.map((model) => {
    const predict = createPredictor(encoded, model)
    return predict ? compared.filter(({ question, answer }) => predict(question) === answer).length : -1
  })
  const best = MODELS[rights.indexOf(Math.max(...rights))]
  const all = encodeExamples(examples)
  return (best && createPredictor(all, best)) ?? (() => all.answers[0] ?? '')
}

function createPredictor(encoded: EncodedExamples, model: Fit): Predictor | undefined {
  const evaluate = model(encoded)
  return evaluate && ((question) => encoded.answers[findLargest(evaluate(encoded.encode(question)))] ?? '')
}

/** Gaussian, with one variance for all answers, which makes it linear. */
function fitNaiveBayes({ rows, labels, answers }: EncodedExamples) {
  const width = rows[0]?.length ?? 0
  const counts = answers.map((_, label) => labels.filter((one) => one === label).length)
  const means = answers.map(() => new Float64Array(width))
  for (const [k, row] of rows.entries()) addScaled(means[labels[k] ?? 0], row, 1 / ((counts[labels[k] ?? 0] ?? 0) + 1))
  return (features: Float64Array) =>
    means.map((mean, label) => Math.log(counts[label] ?? 0) + dot(mean, features) - dot(mean, mean) / 2)
}

const EPOCHS = 15
const RATE = 0.05

/** Multinomial, by stochastic gradients with rates that fall (Adagrad, Duchi et al. 2011). */
function fitLogisticRegression({ rows, labels, answers }: EncodedExamples, penalty: number) {
  const width = (rows[0]?.length ?? 0) + 1
  const weights = answers.map(() => new Float64Array(width))
  const squares = answers.map(() => new Float64Array(width).fill(1e-3))
  const evaluate = (features: Float64Array) =>
    weights.map((weight) => dot(weight, features) + (weight[features.length] ?? 0))
  const random = seededRandom(1)
  for (let step = 0; step < EPOCHS * rows.length; step++) {
    const k = Math.floor(random() * rows.length)
    const row = rows[k] ?? new Float64Array()
    const probabilities = softmax(evaluate(row))
    for (const [answer, weight] of weights.entries()) {
      const error = (probabilities[answer] ?? 0) - Number(labels[k] === answer)
      const square = squares[answer] ?? weight
      for (let i = 0; i < width; i++) {
        const gradient = error * (row[i] ?? 1) + penalty * (weight[i] ?? 0)
        square[i] = (square[i] ?? 0) + gradient * gradient
        weight[i] = (weight[i] ?? 0) - (RATE * gradient) / Math.sqrt(square[i] ?? 1)
      }
    }
  }
  return evaluate
}

const RIDGE = 0.1
const CONJUGATE_STEPS = 40

/** For answers that are numbers: the answer nearest to the prediction. Solved by conjugate gradients. */
function fitRidgeRegression({ rows, labels, answers }: EncodedExamples) {
  const numbers = answers.map(Number)
  if (answers.length < 3 || numbers.some((number) => !Number.isFinite(number))) return undefined
  const targets = labels.map((label) => numbers[label] ?? 0)
  const mean = targets.reduce((sum, target) => sum + target, 0) / targets.length
  const weights = new Float64Array(rows[0]?.length ?? 0)
  const residual = new Float64Array(weights.length)
  for (const [k, row] of rows.entries()) addScaled(residual, row, (targets[k] ?? 0) - mean)
  let direction = residual.slice()
  let square = dot(residual, residual)
  for (let step = 0; step < CONJUGATE_STEPS && square > 1e-9; step++) {
    const image = direction.map((value) => value * RIDGE * rows.length)
    for (const row of rows) addScaled(image, row, dot(row, direction))
    const length = square / dot(direction, image)
    addScaled(weights, direction, length)
    addScaled(residual, image, -length)
    const next = dot(residual, residual)
    direction = residual.map((value, i) => value + (next / square) * (direction[i] ?? 0))
    square = next
  }
  return (features: Float64Array) => {
    const predicted = mean + dot(weights, features)
    return numbers.map((number) => -Math.abs(number - predicted))
  }
}

function softmax(values: readonly number[]): number[] {
  const largest = Math.max(...values)
  const powers = values.map((value) => Math.exp(value - largest))
  const total = powers.reduce((sum, power) => sum + power, 0)
  return powers.map((power) => power / total)
}

function dot(a: Float64Array, b: Float64Array): number {
  const length = Math.min(a.length, b.length)
  let sum = 0
  for (let k = 0; k < length; k++) sum += (a[k] as number) * (b[k] as number) // both have that many
  return sum
}

function addScaled(sums: Float64Array | undefined, values: Float64Array, factor: number): void {
  for (let k = 0; sums && k < sums.length; k++) sums[k] = (sums[k] as number) + factor * (values[k] as number) // equally long
}

function findLargest(values: ArrayLike<number>): number {
  let best = 0
  for (let k = 1; k < values.length; k++) if ((values[k] ?? 0) > (values[best] ?? 0)) best = k
  return best
}

function splitAt<T>(values: readonly T[], index: number): [T[], T[]] {
  return [values.slice(0, index), values.slice(index)]
}
