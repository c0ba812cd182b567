/**
 * docs/guides/custom-tasks.md, from nothing to a task that trains in the demo: a file for each program that the text names, a
 * server for the command that starts one, and the bash blocks as printed.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { buildChildEnvironment } from '../../src/platform/installation.ts'
import { findFreePortPairs } from '../../verification/support/loopback-redis.ts'
import { patternOf, trimLines } from './printed-output.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const PAGE = readFileSync(join(ROOT, 'docs', 'guides', 'custom-tasks.md'), 'utf8')
const BIN = join(ROOT, 'bin', 'reasoning-gym-server.js')
const FILE_LANGUAGES = new Set(['py', 'ts'])

const folder = mkdtempSync(join(tmpdir(), 'rgs-custom-tasks-guide-'))
let server: ChildProcess | undefined
let env: Record<string, string>
afterAll(async () => {
  if (server) {
    const ended = new Promise((resolve) => server?.once('close', resolve))
    server.kill('SIGTERM')
    await ended
  }
  rmSync(folder, { recursive: true, force: true })
})

interface Block {
  language: string
  code: string
  /** The text since the block before. */
  before: string
}

function listBlocks(): Block[] {
  let end = 0
  return [...PAGE.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const before = PAGE.slice(end, match.index)
    end = match.index + match[0].length
    return { language: match[1] ?? '', code: match[2] ?? '', before }
  })
}

function runShell(code: string): Promise<{ code: number | null; output: string }> {
  const script = `set -euo pipefail\nnpx() { [ "$1" = reasoning-gym-server ] && shift && node '${BIN}' "$@"; }\n${code}`
  const child = spawn('bash', ['-c', script], { cwd: folder, env: buildChildEnvironment(env) })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  return new Promise((resolve) =>
    child.once('close', (status) => resolve({ code: status, output: status === 0 ? output : output + errors })),
  )
}

async function startServer(code: string): Promise<void> {
  const args = /reasoning-gym-server (.*)/.exec(code)?.[1]?.split(' ') ?? []
  server = spawn(process.execPath, [BIN, ...args], { cwd: folder, env: buildChildEnvironment(env), stdio: 'ignore' })
  await vi.waitUntil(
    () =>
      fetch(`http://127.0.0.1:${env.PORT}/tasks/bus_passengers`).then(
        (response) => response.ok,
        () => false,
      ),
    { timeout: 60_000, interval: 200 },
  )
}

/** Puts a method before `score_answer`, and checks the task as the text after it says. */
async function addMethod(code: string): Promise<void> {
  const file = join(folder, 'tasks', 'bus_passengers.py')
  const method = code.trim().replaceAll(/^(?=.)/gm, '    ')
  const task = readFileSync(file, 'utf8')
  const extended = task.replace('    def score_answer', () => `${method}\n\n    def score_answer`)
  expect(extended).not.toBe(task)
  writeFileSync(file, extended)
  const { code: status, output } = await runShell('npx reasoning-gym-server task check tasks')
  expect(output).toMatch(/^✓ feedback/m)
  expect(status).toBe(0)
}

it('takes a reader from nothing to a task that trains in the demo', async () => {
  const [port = 0] = await findFreePortPairs(1)
  const small = { API_PROCESSES: '1', WORKERS: '1', PYTHON_WORKERS: '1' }
  env = {
    ...small,
    PORT: String(port),
    DATA_DIR: join(folder, 'data'),
    REASONING_GYM_URL: '',
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`,
  }
  const blocks = listBlocks()
  const kinds: string[] = []
  for (const [k, { language, code, before }] of blocks.entries()) {
    if (FILE_LANGUAGES.has(language)) {
      const file = [...before.matchAll(/`(tasks\/[\w.]+)`/g)].at(-1)?.[1]
      expect(file, `the text before the block ${k} names no file`).toBeDefined()
      writeFileSync(join(folder, file ?? ''), code)
      kinds.push(file ?? '')
    } else if (language === 'python') {
      expect(before).toContain('Put this into `BusPassengersDataset`')
      await addMethod(code)
      kinds.push('explain_answer')
    } else if (language === 'sh') {
      await startServer(code)
      kinds.push('server')
    } else if (language === 'bash') {
      const ended = await runShell(code)
      expect(ended.code, `${code}\n${ended.output}`).toBe(0)
      const next = blocks[k + 1]
      const warned = [...ended.output.matchAll(/^! (.*)/gm)].map(([, warning = '']) => warning)
      const isBusy = warned.length > 0 && warned.every((warning) => /^(?:score )?speed /.test(warning)) // the machine
      if (isBusy) expect(ended.output).toContain('No check failed')
      else if (next?.language === 'text')
        expect(trimLines(ended.output), `${code}\n${ended.output}`).toMatch(patternOf(next.code))
      kinds.push(code.split(' ').slice(2, 4).join(' ').trim())
    }
  }
  expect(kinds).toEqual([
    'task new',
    'tasks/bus_passengers.py',
    'tasks/test_bus_passengers.py',
    'task check',
    'server',
    'tasks --category',
    'demo --task',
    'explain_answer',
    'tasks/bus_passengers.scorer.ts',
    'task check',
  ])
}, 600_000)
