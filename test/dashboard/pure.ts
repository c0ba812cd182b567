/** Modules of the dashboard that need no browser: they have no types of their own. */
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '..', '..', 'src', 'dashboard')

export interface Piece {
  kind: 'thinking' | 'text'
  text: string
  open?: boolean
}

export interface Point {
  t: number
  queued: number
  totals: Record<string, number>
}

export const pieces = (await import(join(FOLDER, 'pieces.js'))) as {
  piecesOf(text: string): Piece[]
  piecesOfEnds(text: string): Piece[]
}

export const rates = (await import(join(FOLDER, 'rates.js'))) as {
  withPoint(points: Point[], point: Point): Point[]
  ratesOf(points: Point[], keys: string[]): { x: number[]; values: Record<string, number[]> }
}
