/** Records a terminal session for the docs: the start of a server, and commands against it, run in a pseudo-terminal. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { getFreePort } from '../../verification/support/with-server.ts'
import { renderScreen, type Span } from './ansi-screen.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const SERVER_SCRIPT = join(ROOT, 'src', 'main', 'serve.ts')
const CLI = join(ROOT, 'bin', 'reasoning-gym-server.js')
const PORT_IN_PICTURE = '8000'
const START_TIMEOUT_MS = 120_000
const QUIET_MS = 3000
/** Lines that are cut from the output of a command, so that the picture stays small. */
const LINES_MOST = 16

export const COLUMNS = 108
/** `ID` stands for the ID of the item that a command before it printed. */
const COMMANDS = ['item gcd', 'score --id ID --answer 2', 'tasks --category logic']

/** Returns the lines of the session: `npm start`, and each command with its output. */
export async function recordSession(commands = COMMANDS): Promise<Span[][]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'rgs-session-'))
  const port = String(await getFreePort())
  const server = runInTerminal([process.execPath, '--disable-warning=ExperimentalWarning', SERVER_SCRIPT], {
    PORT: port,
    DATA_DIR: dataDir,
  })
  const clean = (text: string) =>
    text.replaceAll(`:${port}`, `:${PORT_IN_PICTURE}`).replaceAll(dataDir, './data').replaceAll(`${ROOT}/`, '')
  try {
    await waitUntilQuiet(server)
    const lines = [...prompt('npm start'), ...trim(renderScreen(clean(server.output()), COLUMNS))]
    let id = ''
    for (const template of commands) {
      const command = template.replace('ID', id)
      const run = runInTerminal([process.execPath, CLI, ...command.split(' ')], {
        REASONING_GYM_URL: `http://127.0.0.1:${port}`,
      })
      await run.ended
      id = /ID: (\S+)/.exec(run.output())?.[1] ?? id
      lines.push(
        [],
        ...prompt(`npx reasoning-gym-server ${command}`),
        ...shorten(trim(renderScreen(clean(run.output()), COLUMNS))),
      )
    }
    return lines
  } finally {
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

interface TerminalProcess {
  output(): string
  ended: Promise<void>
  stop(): Promise<void>
}

/** `script` of util-linux gives the program a terminal. */
function runInTerminal(command: string[], env: Record<string, string>): TerminalProcess {
  const line = `stty cols ${COLUMNS} rows 50; exec ${command.map((word) => `'${word}'`).join(' ')}`
  const child: ChildProcess = spawn('script', ['-qefc', line, '/dev/null'], {
    env: { ...process.env, ...env, TERM: 'xterm-256color', COLUMNS: String(COLUMNS) },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  return {
    output: () => output,
    ended,
    async stop() {
      child.stdin?.write('\u0003') // Ctrl-C, as a user stops it
      await ended
    },
  }
}

/** The summary is the last that the server prints. */
async function waitUntilQuiet(server: TerminalProcess): Promise<void> {
  let [length, since] = [0, Date.now()]
  for (const until = Date.now() + START_TIMEOUT_MS; Date.now() < until; await sleep(100)) {
    const now = server.output().length
    if (now !== length) [length, since] = [now, Date.now()]
    else if (server.output().includes('/docs') && Date.now() - since > QUIET_MS) return
  }
  throw new Error(`The server printed no summary:\n${server.output()}`)
}

function prompt(command: string): Span[][] {
  return renderScreen(`\u001b[32m$\u001b[39m \u001b[1m${command}\u001b[22m`)
}

/** Without empty lines at the beginning and the end. */
function trim(lines: Span[][]): Span[][] {
  const first = lines.findIndex((spans) => spans.length > 0)
  const last = lines.findLastIndex((spans) => spans.length > 0)
  return first < 0 ? [] : lines.slice(first, last + 1)
}

function shorten(lines: Span[][]): Span[][] {
  return lines.length <= LINES_MOST ? lines : [...lines.slice(0, LINES_MOST), ...renderScreen('\u001b[2m…\u001b[22m')]
}
