/** Modules of the dashboard that need no browser: they have no types of their own. */
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '..', '..', 'src', 'dashboard')

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
}

export const rates = (await import(join(FOLDER, 'rates.js'))) as {
  appendPoint(points: Point[], point: Point): Point[]
  computeRates(points: Point[], keys: string[]): { x: number[]; values: Record<string, number[]> }
}

interface KnownCaller {
  role: string
  runs: string[] | null
}

export const refusal = (await import(join(FOLDER, 'refusal.js'))) as {
  describeRefusal(caller: KnownCaller | undefined, need: string, run?: string): string | undefined
}
