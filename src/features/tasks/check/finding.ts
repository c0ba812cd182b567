/** What a check of a task works on, and what it says. */
import type { Config } from '@reasoning-gym-server/contract/recipe'
import type { Engine } from '../../../engine/engine.ts'

export interface CheckContext {
  engine: Pick<Engine, 'generateItems' | 'score'>
  /** The same with other string hashes, which decide the order of sets. */
  otherEngine: Pick<Engine, 'generateItems'>
  task: string
  /** The config of the items that are checked. */
  defaults: Config
  makeDeadlineMs: number
}

export interface TaskFinding {
  name: string
  is: 'ok' | 'warn' | 'fail'
  found: string
  /** What the author can do about it. */
  advice?: string
}

export const ok = (name: string, found: string): TaskFinding => ({ name, is: 'ok', found })
export const warn = (name: string, found: string, advice: string): TaskFinding => ({ name, is: 'warn', found, advice })
export const fail = (name: string, found: string, advice: string): TaskFinding => ({ name, is: 'fail', found, advice })

/** Shortens a text for a line of the report. */
export function quote(text: string, chars = 60): string {
  const shown = JSON.stringify(text)
  return shown.length <= chars ? shown : `${shown.slice(0, chars)}…`
}

export function measureMedian(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

export function formatMs(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`
}
