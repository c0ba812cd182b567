/** Runs a Python module that ends with this process, together with all its child processes. */
import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'

/**
 * The module's stdin stays open as long as this process lives, even if this process is killed with SIGKILL. When it closes, the
 * process group kills itself: a pip that kept running would write into the environment that the next start creates.
 */
const TETHER = `
import os, runpy, signal, sys, threading
def end_with_parent():
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)
threading.Thread(target=end_with_parent, daemon=True).start()
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
`
const MAX_OUTPUT_CHARS = 4000

/** Rejects with PythonModuleError if the module fails. `onLine` is called with each line that it prints. */
export async function runTetheredPython(
  python: string,
  module: string,
  args: string[],
  onLine: (line: string) => void = () => {},
): Promise<void> {
  const child = spawn(python, ['-c', TETHER, module, ...args], { stdio: 'pipe', detached: true }) // a group of its own
  child.stdin.on('error', () => {}) // it may end before it is asked to
  let output = ''
  const collect = (stream: Readable, handleLine: (line: string) => void) => {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-MAX_OUTPUT_CHARS)
      for (const line of chunk.split('\n')) if (line.trim() !== '') handleLine(line.trim())
    })
  }
  collect(child.stdout, onLine)
  collect(child.stderr, () => {})
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  child.once('error', reject)
  child.once('close', resolve)
  const code = await promise
  if (code !== 0) throw new PythonModuleError(module, output)
}

export class PythonModuleError extends Error {
  /** The end of what the module printed. */
  readonly output: string

  constructor(module: string, output: string) {
    super(`python -m ${module} failed`)
    this.output = output.trim()
  }

  /** Last lines of the output. */
  get summary(): string {
    return this.output.split('\n').slice(-3).join(' / ')
  }
}
