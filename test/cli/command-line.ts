/** The command line, in this process or, where signals, pipes or the start are the subject, in one of its own as a user runs it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Ended, run as runCommand } from '../../packages/cli/test/run-here.ts'
import { PROGRAM } from '../../src/main/program.ts'

const BIN = new URL('../../bin/reasoning-gym-server.js', import.meta.url).pathname

/** The machine's own Node, which may be older than the one in node_modules; this one where there is no other. */
export const MACHINES_NODE =
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .map((folder) => join(folder, 'node'))
    .find(isProgram) ?? process.execPath

interface Options {
  /** What it reads. */
  input?: string
  env?: Record<string, string>
}

interface StartOptions extends Options {
  node?: string
}

interface Running {
  process: ChildProcess
  ended: Promise<Ended>
  /** What it has printed so far. */
  seen(): Ended
}

/** In a process of its own. */
export function start(args: string[], { input = '', env = {}, node = process.execPath }: StartOptions = {}): Running {
  const child = spawn(node, [BIN, ...args], { env: { ...process.env, ...env } })
  const seen: Ended = { code: null, stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    seen.stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    seen.stderr += chunk.toString()
  })
  child.stdin.on('error', () => {}) // commands that read nothing
  child.stdin.end(input)
  const { promise, resolve } = Promise.withResolvers<Ended>()
  child.once('close', (code) => resolve({ ...seen, code }))
  return { process: child, ended: promise, seen: () => seen }
}

/** In this process. */
export function run(args: string[], options: Options = {}): Promise<Ended> {
  return runCommand(args, { ...options, program: PROGRAM })
}

export function versionOf(node: string): number {
  return Number.parseInt(execFileSync(node, ['--version']).toString().slice(1), 10)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
