/** Finds a Python that can create the environment, and explains why others cannot. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { StartupError } from '../startup-error.ts'

const execFileAsync = promisify(execFile)

const CANDIDATES = ['python3.11', 'python3.12', 'python3.13', 'python3']
const VERSION_SCRIPT = 'import sys; print(*sys.version_info[:2], sep=".")'
const ANSWER_TIMEOUT_MS = 20_000 // a version manager may take seconds

/** Finds a Python command that can create the environment. Throws if there is none. */
export async function requirePython(pythonCommand: string | undefined): Promise<string> {
  const problems: string[] = []
  for (const name of pythonCommand === undefined ? CANDIDATES : [pythonCommand]) {
    const problem = await findPythonProblem(name)
    if (problem === undefined) return name
    if (problem !== NOT_INSTALLED || pythonCommand !== undefined) problems.push(`${name} ${problem}`)
  }
  throw new StartupError(
    `No Python 3.11 or newer was found${problems.length > 0 ? ` (${problems.join('; ')})` : ''}. Install one (Debian: apt install python3 python3-venv), or set PYTHON to its path.`,
  )
}

const NOT_INSTALLED = 'is not installed'

/** Undefined if the command runs Python 3.11 or newer. */
async function findPythonProblem(name: string): Promise<string | undefined> {
  try {
    const { stdout } = await execFileAsync(name, ['-c', VERSION_SCRIPT], { timeout: ANSWER_TIMEOUT_MS })
    const version = stdout.trim()
    const [major = 0, minor = 0] = version.split('.').map(Number)
    return major > 3 || (major === 3 && minor >= 11) ? undefined : `is ${version.slice(0, 40) || 'no Python'}`
  } catch (error) {
    return describeRunError(error)
  }
}

/** Undefined if the interpreter works; otherwise the problem, worded to follow its name. */
export async function findRunProblem(python: string): Promise<string | undefined> {
  try {
    await execFileAsync(python, ['--version'], { timeout: ANSWER_TIMEOUT_MS })
    return undefined
  } catch (error) {
    return describeRunError(error)
  }
}

function describeRunError(error: unknown): string {
  const { code, killed } = error as { code?: string | number; killed?: boolean } // as execFile rejects
  if (code === 'ENOENT') return NOT_INSTALLED
  if (code === 'EACCES') return 'is there, but this user cannot run it (EACCES)'
  if (killed === true) return `does not answer within ${ANSWER_TIMEOUT_MS / 1000} s`
  return `fails (${code ?? 'killed'})`
}
