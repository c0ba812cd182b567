/**
 * Parses checkpoint documents as their schema does, but some entries of the long lists at a time: a document of many
 * megabytes takes seconds, in which other calls must be answered.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { z } from 'zod'
import { ENGINE_VERSION } from '../../../engine/version.ts'
import { CHECKPOINT_VERSION, Checkpoint, LONG_LISTS } from './document.ts'

/** Number of entries that are parsed at a time. */
const SLICE_SIZE = 500
/** Number of errors after which the rest of a list is not parsed. */
const MAX_ISSUES = 100

/** A document without anything in it. */
export const EMPTY_CHECKPOINT: Checkpoint = {
  version: CHECKPOINT_VERSION,
  engine: ENGINE_VERSION,
  run: 'demo',
  created_at: '2026-01-01T00:00:00.000Z',
  settings: { seed: 7 },
  counters: {},
  curriculum: {},
  recent_accuracies: {},
  tasks: {},
  curriculum_history: [],
  sequence: {
    position: 0,
    open: [],
    leases: [],
    requested: [],
    issued: { tasks: [], difficulties: [], chunks: [] },
    steps: [],
  },
  mixes: [],
  step_sums: [],
}

type ParseOptions = Parameters<typeof Checkpoint.safeParse>[1]
type Path = readonly string[]
type Parsed = { document: Checkpoint } | { issues: z.core.$ZodIssue[] }

export async function parseCheckpoint(body: unknown, options: ParseOptions): Promise<Parsed> {
  const lists = LONG_LISTS.map((list) => ({ ...list, entries: readEntries(readAt(body, list.path), list.isRecord) }))
  const isSliced = lists.every(({ entries, max }) => entries.length <= max)
  const sliced = isSliced ? lists.filter(({ entries }) => entries.length > SLICE_SIZE) : [] // too long: the schema says so
  const rest = sliced.reduce((value, { path, isRecord }) => replaceAt(value, path, isRecord ? {} : []), body)
  const parsed = Checkpoint.safeParse(rest, options)
  const issues = parsed.error?.issues ?? []
  let document: unknown = parsed.data
  for (const { path, isRecord, entries } of sliced) {
    const parts: unknown[] = []
    for (let k = 0; k < entries.length && issues.length < MAX_ISSUES; k += SLICE_SIZE) {
      await nextTurn()
      const slice = entries.slice(k, k + SLICE_SIZE)
      const part = isRecord ? Object.fromEntries(slice as [string, unknown][]) : slice // as readEntries returns them
      const one = Checkpoint.safeParse(replaceAt(EMPTY_CHECKPOINT, path, part), options)
      if (one.success) parts.push(readAt(one.data, path))
      else issues.push(...one.error.issues.map((issue) => (isRecord ? issue : shiftIndex(issue, path.length, k))))
    }
    document = replaceAt(document, path, isRecord ? Object.assign({}, ...parts) : parts.flat())
  }
  return issues.length > 0 ? { issues } : { document: document as Checkpoint } // each part of it is parsed
}

/** The entries of a list, or names and values of a record; none if there is something else. */
function readEntries(value: unknown, isRecord: boolean): readonly unknown[] {
  if (Array.isArray(value)) return isRecord ? [] : value
  return isRecord && typeof value === 'object' && value !== null ? Object.entries(value) : []
}

function readAt(value: unknown, [name, ...rest]: Path): unknown {
  if (name === undefined) return value
  return typeof value === 'object' && value !== null
    ? readAt((value as Record<string, unknown>)[name], rest)
    : undefined
}

/** A copy of an object with another value at the path. */
function replaceAt(value: unknown, [name, ...rest]: Path, replacement: unknown): unknown {
  if (name === undefined) return replacement
  if (typeof value !== 'object' || value === null) return value
  return { ...value, [name]: replaceAt((value as Record<string, unknown>)[name], rest, replacement) }
}

function shiftIndex(issue: z.core.$ZodIssue, at: number, by: number): z.core.$ZodIssue {
  return { ...issue, path: issue.path.map((part, k) => (k === at && typeof part === 'number' ? part + by : part)) }
}
