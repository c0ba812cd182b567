/**
 * Loaded into every Node process of a server under test: its clock is off by what a file says, which may change at any time:
 * `{ "api": ms, "worker": ms }`.
 */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

const file = process.env.CLOCK_OFFSET_FILE ?? ''
const role = basename(process.argv[1] ?? '', '.ts')
const RealDate = Date
/** Processes look at the clock thousands of times per second. */
const REREAD_MS = 5

let offset = 0
let readAt = Number.NEGATIVE_INFINITY

function offsetMs(): number {
  const now = performance.now()
  if (now - readAt < REREAD_MS) return offset
  readAt = now
  try {
    const offsets = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>
    offset = offsets[role] ?? 0
  } catch {
    offset = 0
  }
  return offset
}

class JumpingDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(RealDate.now() + offsetMs())
    else super(...(given as [string]))
  }

  static override now(): number {
    return RealDate.now() + offsetMs()
  }
}

globalThis.Date = JumpingDate as DateConstructor
