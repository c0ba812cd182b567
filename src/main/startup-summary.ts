/** The summary that ends a start in a terminal: where everything is, and what to try. */
import { relative } from 'node:path'

export interface StartupFacts {
  version: string
  tasks: number
  apiProcesses: number
  workers: number
  /** The state of each sandbox layer: `on`, or why it is not active. Undefined if the engine is not ready. */
  layers: Record<string, string> | undefined
  address: string
  dataDir: string
  /** null: the server has no keys. */
  keys: number | null
  isDefaultPort: boolean
}

export type Paint = (style: 'bold' | 'dim' | 'green' | 'yellow' | 'cyan', text: string) => string

export function formatStartupSummary(facts: StartupFacts, paint: Paint): string {
  const { version, tasks, apiProcesses, workers, address, keys } = facts
  const head = [
    `${tasks} tasks`,
    `${countOf(apiProcesses, 'API process', 'API processes')}, ${countOf(workers, 'worker', 'workers')}`,
    formatLayers(facts.layers, paint),
  ]
  const command = (text: string, about: string) => `    ${paint('bold', text.padEnd(40))} ${paint('dim', about)}`
  const cli = 'npx reasoning-gym-server'
  const url = facts.isDefaultPort ? '' : ` --url ${address}`
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
    command(`${cli} demo${url}`, 'a training run of a simulated model'),
    command(`${cli} item sudoku${url}`, 'one puzzle'),
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
  return active === states.length ? text : paint('yellow', `${text}: run \`npx reasoning-gym-server doctor\``)
}

/** Relative if the folder is below the working directory. */
function formatFolder(path: string): string {
  const below = relative(process.cwd(), path)
  return below === '' || below.startsWith('..') ? path : `./${below}`
}

const countOf = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`
