/** Starts a process that is restarted when it ends, and tells its end however it comes. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'

/**
 * `onEnd` is called once, with what happened in words: `ended (SIGKILL)`. A process that could not be started has ended, too, and
 * undefined is returned: Node throws for a lack of memory, and for a lack of files gives a process without streams.
 */
export function spawnProcess(
  command: string,
  args: readonly string[],
  options: SpawnOptions,
  onEnd: (how: string) => void,
): ChildProcess | undefined {
  const reportFailure = (error: Error) => onEnd(`could not be started: ${error.message}`)
  try {
    const child = spawn(command, args, options)
    child.on('error', (error) => {
      if (child.pid === undefined) reportFailure(error)
    })
    child.once('exit', (code, signal) => onEnd(`ended (${signal ?? code})`))
    return child.pid === undefined ? undefined : child
  } catch (error) {
    process.nextTick(reportFailure, error)
    return undefined
  }
}
