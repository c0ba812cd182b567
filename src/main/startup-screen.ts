/**
 * What a start shows in a terminal: one line with the current step and the elapsed time, warnings and errors once each, and at
 * the end the summary. Without a terminal, the log has all of it as JSON lines.
 */
import { styleText } from 'node:util'
import pretty from 'pino-pretty'
import type { ReportProgress } from './bootstrap/wait-notice.ts'
import { formatStartupSummary, type Paint, type StartupFacts } from './startup-summary.ts'

const FRAMES = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏']
const FRAME_MS = 200
const CLEAR_LINE = '\r\u001B[2K'
/** Fields in which equal lines of several processes differ. */
const PROCESS_FIELDS = ['time', 'pid', 'hostname', 'name', 'kind']

export const paint: Paint = (style, text) => styleText(style, text, { stream: process.stdout })

export class StartupScreen {
  readonly #startedAt = performance.now()
  readonly #timer: NodeJS.Timeout
  readonly #seen = new Set<string>()
  readonly #lines = pretty({ ignore: 'pid,hostname', singleLine: true, sync: true, destination: 1 })
  #step = 'Starting'
  #frame = 0
  #isOpen = true

  constructor() {
    this.#timer = setInterval(() => this.#draw(), FRAME_MS)
    this.#timer.unref()
    process.once('exit', () => this.close())
  }

  /** Names the current step. */
  readonly report: ReportProgress = Object.assign((step: string) => this.#show(step), { everyMs: 1000 })

  /** Prints a JSON line of the log. During the start, the processes log the same warnings: only the first is printed. */
  writeLogLine(line: string): void {
    if (this.#isOpen && this.#isRepeated(line)) return
    if (this.#isOpen) process.stdout.write(CLEAR_LINE)
    this.#lines.write(line.endsWith('\n') ? line : `${line}\n`)
  }

  finish(facts: StartupFacts): void {
    this.close()
    process.stdout.write(`${formatStartupSummary(facts, paint)}\n`)
  }

  announceStop(): void {
    this.close()
    process.stdout.write(`${paint('dim', 'Stopping: the server finishes the work in flight …')}\n`)
  }

  /** Removes the line of the current step. */
  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    clearInterval(this.#timer)
    process.stdout.write(CLEAR_LINE)
  }

  #show(step: string): void {
    this.#step = step
    this.#draw()
  }

  #draw(): void {
    if (!this.#isOpen) return
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000)
    const frame = FRAMES[this.#frame++ % FRAMES.length] ?? ''
    const text = `${frame} ${seconds} s  ${this.#step}`.slice(0, (process.stdout.columns || 80) - 1)
    process.stdout.write(CLEAR_LINE + paint('dim', text))
  }

  #isRepeated(line: string): boolean {
    const key = withoutProcessFields(line)
    if (this.#seen.has(key)) return true
    this.#seen.add(key)
    return false
  }
}

function withoutProcessFields(line: string): string {
  try {
    const fields = Object.entries(JSON.parse(line) as object)
    return JSON.stringify(fields.filter(([name]) => !PROCESS_FIELDS.includes(name)))
  } catch {
    return line
  }
}
