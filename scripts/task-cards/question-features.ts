/** Features of questions for linear models: counts of words, numbers and symbols, and what stands at both ends. */

/** Right answers of other items are the answers to choose from. */
export interface Example {
  question: string
  answer: string
}

/** Questions as rows of standardized features, and their answers as indexes of `answers`. */
export interface EncodedExamples {
  /** Commonest first. */
  answers: string[]
  labels: number[]
  rows: Float64Array[]
  encode(question: string): Float64Array
}

interface Feature {
  name: string
  mean: number
  deviation: number
}

const MAX_ANSWERS = 24
/** Those that differ most between the answers. */
const MAX_FEATURES = 300
/** A feature that fewer examples have is noise. */
const MIN_EXAMPLES = 5
/** Of the end of a question. */
const MAX_PAIRED_TOKENS = 300
const MAX_NAMED_COUNT = 6
const END_TOKENS = 3

/** Examples with rarer answers than the commonest 24 are left out. */
export function encodeExamples(examples: readonly Example[]): EncodedExamples {
  const byAnswer = [...Map.groupBy(examples, ({ answer }) => answer)]
  const answers = byAnswer
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, MAX_ANSWERS)
    .map(([answer]) => answer)
  const known = examples.filter(({ answer }) => answers.includes(answer))
  const labels = known.map(({ answer }) => answers.indexOf(answer))
  const counts = known.map(({ question }) => countFeatures(question))
  const features = selectFeatures(counts, labels)
  const standardize = (row: ReadonlyMap<string, number>) =>
    Float64Array.from(features, ({ name, mean, deviation }) => (Math.log1p(row.get(name) ?? 0) - mean) / deviation)
  return {
    answers,
    labels,
    rows: counts.map(standardize),
    encode: (question) => standardize(countFeatures(question)),
  }
}

function countFeatures(question: string): Map<string, number> {
  const tokens: string[] = question.match(/\p{L}+|\d+|[^\s\p{L}\d]/gu) ?? []
  const counts = new Map<string, number>()
  const add = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  tokens.forEach(add)
  for (const [token, count] of Array.from(counts)) if (count <= MAX_NAMED_COUNT) add(`${token} × ${count}`)
  const paired = tokens.slice(-MAX_PAIRED_TOKENS)
  for (let k = 1; k < paired.length; k++) add(`${paired[k - 1]} ${paired[k]}`)
  for (const [k, token] of tokens.slice(-END_TOKENS).entries()) add(`last ${k}: ${token}`)
  for (const [k, token] of tokens.slice(0, END_TOKENS).entries()) add(`first ${k}: ${token}`)
  return counts
    .set('all tokens', tokens.length)
    .set('lines', question.split('\n').length)
    .set('digits', question.match(/\d/g)?.length ?? 0)
}

function selectFeatures(counts: readonly ReadonlyMap<string, number>[], labels: readonly number[]): Feature[] {
  const frequencies = new Map<string, number>()
  for (const row of counts) for (const name of row.keys()) frequencies.set(name, (frequencies.get(name) ?? 0) + 1)
  return [...frequencies]
    .filter(([, frequency]) => frequency >= MIN_EXAMPLES)
    .flatMap(([name]) => {
      const values = counts.map((row) => Math.log1p(row.get(name) ?? 0))
      const mean = computeMean(values)
      const variance = computeMean(values.map((value) => (value - mean) ** 2))
      if (variance < 1e-9) return []
      return [
        { name, mean, deviation: Math.sqrt(variance), explained: explainVariance(values, labels, mean) / variance },
      ]
    })
    .toSorted((a, b) => b.explained - a.explained)
    .slice(0, MAX_FEATURES)
}

/** The variance of the means of the answers. */
function explainVariance(values: readonly number[], labels: readonly number[], mean: number): number {
  const sums = new Float64Array(MAX_ANSWERS)
  const sizes = new Float64Array(MAX_ANSWERS)
  for (const [k, label] of labels.entries()) {
    sums[label] = (sums[label] ?? 0) + (values[k] ?? 0) - mean
    sizes[label] = (sizes[label] ?? 0) + 1
  }
  return sums.reduce((total, sum, label) => total + (sum === 0 ? 0 : sum ** 2 / (sizes[label] ?? 1)), 0) / values.length
}

function computeMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
