/**
 * Preload that shifts the clock of a Node process by the seconds in the file CLOCK_OFFSET_FILE, which may change at any time.
 * Timers go on, as they do when a real clock is set. Python workers and Redis keep the right time.
 */
import { readFileSync } from 'node:fs'

const RELOAD_MS = 50
const file = process.env.CLOCK_OFFSET_FILE
const RealDate = Date
const realNow = Date.now
let offsetMs = 0

if (file !== undefined) {
  reload(file)
  setInterval(reload, RELOAD_MS, file).unref()
  RealDate.now = () => realNow() + offsetMs
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [target.now()] : args, newTarget === Date ? target : newTarget),
    apply: (target) => new target(target.now()).toString(),
  })
}

function reload(from: string): void {
  try {
    offsetMs = Number(readFileSync(from, 'utf8')) * 1000 || 0
  } catch {} // not written yet
}
