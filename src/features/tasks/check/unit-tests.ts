/** Runs the unit tests that lie beside custom tasks, with the Python and the library of the server. They are not in the sandbox. */
import { execFile } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { fail, ok, type TaskFinding, warn } from './finding.ts'

const execFileAsync = promisify(execFile)
const SCRIPT = join(import.meta.dirname, '..', '..', '..', 'engine', 'python', 'run_task_tests.py')
const TIMEOUT_MS = 120_000

/** Undefined for the name of a module. */
export async function checkUnitTests(pythonPath: string, place: string): Promise<TaskFinding | undefined> {
  if (!existsSync(place)) return undefined
  const isFolder = statSync(place).isDirectory()
  const [folder, pattern] = isFolder ? [place, 'test_*.py'] : [dirname(place), `test_${basename(place)}`]
  const advice = 'run the test, and correct the task or the test'
  try {
    const { stdout } = await execFileAsync(pythonPath, ['-s', '-B', SCRIPT, folder, pattern], { timeout: TIMEOUT_MS })
    const { tests, failures } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as {
      tests: number
      failures: [test: string, error: string][]
    } // as run_task_tests.py prints it
    const [failure] = failures
    if (failure) return fail('tests', `${failures.length} of ${tests} tests fail: ${failure.join(': ')}`, advice)
    if (tests > 0) return ok('tests', tests === 1 ? '1 unit test passes' : `${tests} unit tests pass`)
    return warn('tests', 'there are no unit tests', 'write some: "reasoning-gym-server task new" shows how')
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string } // as execFile rejects
    return fail('tests', `the tests cannot be run: ${(stderr || message).trim().split('\n').at(-1)}`, advice)
  }
}
