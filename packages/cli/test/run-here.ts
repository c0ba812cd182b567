/** Runs a command of a program in this process, with an environment and standard streams of its own. */
import { Readable, Writable } from 'node:stream'
import { type ProgramParams, runProgram } from '../src/program.ts'
import { CLIENT } from './client.ts'

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  /** What it reads. */
  input?: string
  env?: Record<string, string>
  program?: ProgramParams
}

/** One at a time: it replaces streams and environment of this process. What needs signals or pipes is started as a process. */
export async function run(args: string[], { input = '', env = {}, program = CLIENT }: RunOptions = {}): Promise<Ended> {
  const [stdout, stderr] = [new TextSink(), new TextSink()]
  const restore = [
    replaceStreams({ stdin: Readable.from(input === '' ? [] : [Buffer.from(input)]), stdout, stderr }),
    replaceEnvironment(env),
    keepSignalsAndExitCode(),
  ]
  try {
    const code = await runProgram(program, args)
    return { code, stdout: stdout.text, stderr: stderr.text }
  } finally {
    for (const undo of restore) undo()
  }
}

class TextSink extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

function replaceStreams(streams: Record<'stdin' | 'stdout' | 'stderr', Readable | Writable>): () => void {
  const names = Object.keys(streams) as (keyof typeof streams)[]
  const originals = names.map((name) => [name, Object.getOwnPropertyDescriptor(process, name) ?? {}] as const)
  for (const name of names) Object.defineProperty(process, name, { value: streams[name], configurable: true })
  return () => {
    for (const [name, descriptor] of originals) Object.defineProperty(process, name, descriptor)
  }
}

/** Options of commands change the environment, too. */
function replaceEnvironment(env: Record<string, string>): () => void {
  const before = { ...process.env }
  Object.assign(process.env, env)
  return () => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
    Object.assign(process.env, before)
  }
}

/** A command sets the exit code of its process, and takes Ctrl-C for itself. */
function keepSignalsAndExitCode(): () => void {
  const { exitCode } = process
  process.exitCode = undefined
  const signals = ['SIGINT', 'SIGTERM'] as const
  const before = signals.map((signal) => process.listeners(signal))
  return () => {
    process.exitCode = exitCode
    for (const [k, signal] of signals.entries())
      for (const listener of process.listeners(signal))
        if (!before[k]?.includes(listener)) process.off(signal, listener)
  }
}
