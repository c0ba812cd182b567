/**
 * What a start shows in a terminal: one line with the current step and the elapsed time, warnings and errors once each, and at
 * the end the summary. Without a terminal, the log has all of it as JSON lines.
 */

import { relative } from 'node:path'
import { styleText } from 'node:util'
import { INVOCATION } from '@reasoning-gym-server/cli/output'
import pretty from 'pino-pretty'
import type { ReportProgress } from './bootstrap/startup-report.ts'

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

export interface StartupFacts {
  version: string
  tasks: number
  apiProcesses: number
  workers: number
  /** One process is API and worker. */
  isSmall: boolean
  /** The state of each sandbox layer: `on`, or why it is not active. Undefined if the engine is not ready. */
  layers: Record<string, string> | undefined
  address: string
  dataDir: string
  /** null: the server has no keys. */
  keys: number | null
  isDefaultPort: boolean
}

type Paint = (style: 'bold' | 'dim' | 'green' | 'yellow' | 'cyan', text: string) => string

/** The summary that ends a start in a terminal: where everything is, and what to try. */
export function formatStartupSummary(facts: StartupFacts, paint: Paint): string {
  const { version, tasks, apiProcesses, workers, address, keys } = facts
  const processes = `${countOf(apiProcesses, 'API process', 'API processes')}, ${countOf(workers, 'worker', 'workers')}`
  const head = [
    `${tasks} tasks`,
    facts.isSmall ? 'one process for API and jobs' : processes,
    formatLayers(facts.layers, paint),
  ]
  const command = (text: string, about: string) => `    ${paint('bold', text.padEnd(40))} ${paint('dim', about)}`
  const url = `${facts.isDefaultPort ? '' : ` --url ${address}`}${keys === null ? '' : ' --key KEY'}`
  return [
    '',
    `${paint('green', '●')} ${paint('bold', `reasoning-gym-server ${version}`)} · ${head.join(' · ')}`,
    '',
    `  Dashboard  ${paint('cyan', `${address}/`)}`,
    `  API docs   ${paint('cyan', `${address}/docs`)}`,
    `  Data       ${formatFolder(facts.dataDir)}`,
    `  API keys   ${keys === null ? 'off: every program on this machine has all rights' : `on: ${countOf(keys, 'key', 'keys')}`}`,
    '',
    '  Try in another terminal:',
    command(`${INVOCATION} demo${url}`, 'a training run of a simulated model'),
    command(`${INVOCATION} item sudoku${url}`, 'one puzzle'),
    '',
    paint('dim', '  Ctrl-C stops the server. From now on, only warnings and errors appear here.'),
    '',
  ].join('\n')
}

function formatLayers(layers: Record<string, string> | undefined, paint: Paint): string {
  if (layers === undefined) return paint('yellow', 'the engine is still starting')
  const states = Object.values(layers)
  const active = states.filter((state) => state === 'on').length
  const text = `sandbox ${active}/${states.length} layers`
  return active === states.length ? text : paint('yellow', `${text}: run \`${INVOCATION} doctor\``)
}

/** Relative if the folder is below the working directory. */
function formatFolder(path: string): string {
  const below = relative(process.cwd(), path)
  return below === '' || below.startsWith('..') ? path : `./${below}`
}

const countOf = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`
