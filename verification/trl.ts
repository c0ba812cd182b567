/**
 * npm run verify -- trl --python PATH | --install FOLDER [--steps 5]: TRL's GRPOTrainer trains a tiny random model by
 * examples/trl_grpo.py on a server of its own. Ends with 1 unless groups stay whole, completions without a reward are masked, and
 * the curriculum reaches the trainer.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { requirePython } from '../src/main/bootstrap/python-command.ts'
import { buildChildEnvironment } from '../src/platform/config.ts'
import { withScriptServer } from './support/with-server.ts'

/** What this was last run with; examples/trl_grpo.py needs 1.6.0 or newer. */
const TRL = 'trl==1.16.0'
/** Its builds need no GPU libraries. Where it cannot be reached, the larger ones of PyPI do. */
const CPU_BUILDS = 'https://download.pytorch.org/whl/cpu'
const RUN = 'trl'
const ITEMS_A_STEP = 8
const GROUP_SIZE = 4

const parseCount = (text: string) => {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('a whole number')
  return Number(text)
}
const command = new Command('trl')
  .option('--python <path>', 'a Python that has TRL and torch')
  .option('--install <folder>', 'make a virtual environment there, if there is none, with TRL and torch: up to 7 GB')
  .option('--steps <n>', 'steps of training', parseCount, 5)
  .parse()
const options = command.opts<{ python?: string; install?: string; steps: number }>()

interface Training {
  steps: number
  groups: number
  group_sizes: number[]
  right_above_0: boolean
  unscored_at_0: boolean
  wrong_below_0: boolean
  losses_finite: boolean
  weights_moved: boolean
  difficulties: number[]
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1)) // the server ends with us
const python = options.python ?? (options.install === undefined ? undefined : await install(options.install))
if (python === undefined)
  command.error('Name a Python that has TRL (--python), or a folder to install it to (--install).')
const failures = await withScriptServer(undefined, (url) => verify(url, python ?? ''))
for (const failure of failures) console.log(`FAILURE ${failure}`)
console.log(failures.length === 0 ? 'TRL trains on the run.' : `${failures.length} failures.`)
process.exit(failures.length === 0 ? 0 : 1)

async function install(folder: string): Promise<string> {
  const path = join(folder, 'bin', 'python')
  if (existsSync(path)) return path
  execFileSync(await requirePython(undefined), ['-m', 'venv', folder], { stdio: 'inherit' })
  const pip = (...args: string[]) => execFileSync(path, ['-m', 'pip', 'install', ...args], { stdio: 'inherit' })
  try {
    pip('--index-url', CPU_BUILDS, 'torch')
  } catch {
    pip('torch')
  }
  pip(TRL)
  return path
}

async function verify(url: string, path: string): Promise<string[]> {
  const program = join(import.meta.dirname, 'trl', 'train.py')
  const args = [program, '--url', url, '--run', RUN, '--steps', String(options.steps)]
  const env = buildChildEnvironment({ PYTHONDONTWRITEBYTECODE: '1', HF_HUB_OFFLINE: '1' })
  const output = execFileSync(path, args, { env, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' })
  console.log(output)
  const training = JSON.parse(output.trim().split('\n').at(-1) ?? '') as Training
  const response = await fetch(`${url}/runs/${RUN}`)
  const { progress, tasks } = (await response.json()) as {
    progress: Record<string, number>
    tasks: Record<string, { truncated: number; length_p95: number | null }>
  }
  const groups = options.steps * ITEMS_A_STEP
  const expected: [string, unknown, unknown][] = [
    ['steps', training.steps, options.steps],
    ['groups that TRL trained on', training.groups, groups],
    ['sizes of the groups posted', JSON.stringify(training.group_sizes), JSON.stringify([GROUP_SIZE])],
    ['groups of the run', progress.groups, groups],
    ['rollouts of the run', progress.rollouts, groups * GROUP_SIZE],
    ['groups that wait for a trainer', progress.buffered_groups, 0],
    ['advantages of right completions above 0', training.right_above_0, true],
    ['advantages of unscored completions 0', training.unscored_at_0, true],
    ['advantages of wrong completions below 0', training.wrong_below_0, true],
    ['finite losses', training.losses_finite, true],
    ['weights that moved', training.weights_moved, true],
    ['difficulties that moved', new Set(training.difficulties).size > 1, true],
    ['lengths are known', Object.values(tasks).some(({ length_p95 }) => length_p95 !== null), true],
    ['cut completions are known', Object.values(tasks).some(({ truncated }) => truncated > 0), true],
  ]
  return expected.flatMap(([name, found, wanted]) =>
    found === wanted ? [] : [`${name}: ${String(found)}, not ${String(wanted)}`],
  )
}
