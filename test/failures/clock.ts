/** Loaded into every Node process of a server under test: its clock is off by what a file says, which may change at any time. */
import { readFileSync } from 'node:fs'

const file = process.env.CLOCK_OFFSET_FILE ?? ''
const RealDate = Date

function offsetMs(): number {
  try {
    return Number(readFileSync(file, 'utf8')) || 0
  } catch {
    return 0
  }
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
