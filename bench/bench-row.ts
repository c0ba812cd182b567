/** One figure of the benchmark with its target. */

export interface BenchRow {
  /** W1 … W14, as in README.md. */
  work: string
  what: string
  value: number
  unit: string
  /** Targets. A figure without one is reported only. */
  least?: number
  most?: number
  /** Details for the table. */
  beside?: string
}

export function isTargetReached({ value, least, most }: BenchRow): boolean | undefined {
  if (least !== undefined) return value >= least
  return most === undefined ? undefined : value <= most
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low = Number.NaN, high = Number.NaN] = [sorted[sorted.length % 2 ? middle : middle - 1], sorted[middle]]
  return (low + high) / 2
}

export interface Bench {
  rounds: number
  /** Of one measurement. */
  seconds: number
  /** Keeps every single measurement for the JSON. */
  record: (name: string, measured: object) => void
}

export type Benchmark = (bench: Bench) => Promise<BenchRow[]>

/** Answers that were lost or wrong make every figure worthless. */
export function assertNoErrors(
  name: string,
  { wrong, errors }: { wrong: number; errors: Record<string, number> },
): void {
  if (wrong > 0 || Object.keys(errors).length > 0) {
    throw new Error(`${name}: ${wrong} wrong answers, errors ${JSON.stringify(errors)}`)
  }
}
