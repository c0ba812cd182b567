/** Modules of the dashboard that need no browser: they have no types of their own. */
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '..', 'src')

export interface Segment {
  kind: 'thinking' | 'text'
  text: string
  open?: boolean
}

export interface Point {
  t: number
  queued: number
  totals: Record<string, number>
}

export const segments = (await import(join(FOLDER, 'completion-segments.js'))) as {
  parseSegments(text: string): Segment[]
  parseTruncatedSegments(text: string): Segment[]
  splitAnswers(text: string, cut?: boolean): string[]
  splitMatches(text: string, q?: string): string[]
}

export const rates = (await import(join(FOLDER, 'chart-data.js'))) as {
  appendPoint(points: Point[], point: Point): Point[]
  computeRates(points: Point[], keys: string[]): { x: number[]; values: Record<string, number[]>; seconds: number }
}

interface MetricRow {
  first_step?: number
  first_group?: number
  width: number
}

export const metricRows = (await import(join(FOLDER, 'chart-data.js'))) as {
  getRefreshStart(rows: MetricRow[]): number | undefined
  continueRows(rows: MetricRow[], newer: MetricRow[]): MetricRow[] | undefined
}

interface KnownCaller {
  role: string
  runs: string[] | null
}

export const denial = (await import(join(FOLDER, 'api.js'))) as {
  describeDenial(caller: KnownCaller | undefined, need: string, run?: string): string | undefined
}

export interface DiffPart {
  text: string
  same: boolean
}

export const textDiff = (await import(join(FOLDER, 'text-diff.js'))) as {
  diffTexts(expected: string, answer: string): { expected: DiffPart[] | null; answer: DiffPart[] | null }[]
  countChanges(rows: ReturnType<typeof textDiff.diffTexts>): number
}

export interface GridCell {
  value: string
  state: string
  expected?: string
  given: boolean
}

export const answerGrid = (await import(join(FOLDER, 'answer-grid.js'))) as {
  compareGrids(
    task: string,
    texts: { answer: string; expected?: string | null; question?: string; isRight?: boolean },
  ): { rows: GridCell[][]; wrong: number; total: number; note: string | null } | null
}

export const explanations = (await import(join(FOLDER, 'explain-verdict.js'))) as {
  classifyVerdict(verdict: object): string
  explainVerdict(verdict: object): string
}

export interface Series {
  name: string
  values: (number | null)[]
  color?: string
  dashed?: boolean
  faint?: boolean
}

export const chartData = (await import(join(FOLDER, 'chart-data.js'))) as {
  smooth(values: (number | null)[], weight: number): (number | null)[]
  isSameLine(a: (number | null)[], b: (number | null)[]): boolean
  canBeLogarithmic(series: Series[]): boolean
  toCsv(columns: Series[]): string
}

export interface Difference {
  difference: number | null
  confidence_95: [number, number] | null
}

export const intervals = (await import(join(FOLDER, 'eval-facts.js'))) as {
  chooseLimit(rows: Difference[]): number
  placeInterval(row: Difference, limit: number): { at: number | null; from: number | null; to: number | null }
  formatP(p: number | null): string
  formatInterval(row: Difference): string
}

export const sorting = (await import(join(FOLDER, 'sorting.js'))) as {
  sortRows<Row>(rows: Row[], columns: Record<string, (row: Row) => number | string | null>, order: string): Row[]
  nextOrder(order: string, key: string): string
}

export const evalFacts = (await import(join(FOLDER, 'eval-facts.js'))) as {
  describeStatus(value: object, options?: { share?: boolean }): { tone: string; text: string }
  filterEvals(evals: object[], filter: object): { id: string }[]
  buildEvalCurves(evals: object[], options?: object): { x: number[]; lines: Record<string, unknown>[] }
}

export const runComparison = (await import(join(FOLDER, 'run-facts.js'))) as {
  parseRunNames(text: string, most: number): string[]
  alignSteps(runs: (object[] | undefined)[], getValue: (point: never) => unknown): { x: number[]; values: unknown[][] }
  groupBySeed(runs: object[]): object[][]
  averageLines(lines: (number | null)[][]): object
  nameSeeds(names: string[]): string
  sumFaults(step: object): number | null
  summarizeLatest(rows: object[]): object | undefined
  listDifficulties(points: object[]): { step: number; difficulty: number }[]
  omitIgnoredSettings(settings: object): object
  compareSettings(runs: object[]): { name: string; values: unknown[]; differs: boolean }[]
  compareTasks(runs: object[], field: string): { task: string; values: unknown[]; difference: number | null }[]
}
