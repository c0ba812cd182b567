/**
 * Builds the npm package and the wheel, installs both into empty folders, and uses them as a new user would. The wheel runs without
 * Node on the PATH and, where the machine allows network namespaces, without a network. Option: `--keep` leaves the folder for a look.
 */
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { ensurePythonEnvironment, requirePython } from '../src/main/bootstrap/python/python-environment.ts'

const execFileAsync = promisify(execFile)
const ROOT = join(import.meta.dirname, '..')
const PACKAGES = join(ROOT, 'dist-packages')
const NAME = 'reasoning-gym-server'
/** Starts a loopback interface in a network namespace of its own, and nothing else, then runs the command. */
const OFFLINE = [
  '--net',
  'python3',
  '-c',
  'import fcntl,os,socket,struct,sys; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh", b"lo", 1)); os.execv(sys.argv[1], sys.argv[1:])',
]

const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } })
const enginePython = await ensurePythonEnvironment(console.error)
const folder = mkdtempSync(join(tmpdir(), 'rgs-packages-'))
try {
  await say('built the wheels', () => run('npm', ['run', '--silent', 'wheel'], ROOT))
  await say('built the npm package', () =>
    run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], ROOT),
  )
  await tryWheel()
  await tryNpmPackage()
  console.log('Both packages work.')
} finally {
  if (values.keep) console.log(`kept: ${folder}`)
  else rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

async function tryWheel(): Promise<void> {
  const venv = join(folder, 'venv')
  const wheel = find(PACKAGES, /^reasoning_gym_server-.*\.whl$/)
  await say('installed the wheel', async () => {
    await run(await requirePython(process.env.PYTHON), ['-m', 'venv', venv])
    await run(join(venv, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', wheel])
  })
  const home = join(folder, 'home')
  const path = join(folder, 'path')
  for (const made of [home, path]) mkdirSync(made)
  for (const program of ['env', 'sh']) symlinkSync(join('/usr/bin', program), join(path, program))
  const command = [join(venv, 'bin', 'python'), join(import.meta.dirname, 'packages', 'try_wheel.py')]
  const isolated = canUnshare() ? ['unshare', ...OFFLINE, ...command] : command
  if (isolated === command)
    console.log('This machine does not allow network namespaces: the wheel is tried with the network.')
  const [program = '', ...args] = isolated
  await say('used the wheel', () =>
    run(program.startsWith('/') ? program : `/usr/bin/${program}`, args.map(findProgram), home, {
      PATH: path,
      HOME: home,
    }),
  )
}

/** The PATH of the command is nearly empty. */
function findProgram(name: string): string {
  return name === 'python3' ? enginePython : name
}

async function tryNpmPackage(): Promise<void> {
  const project = join(folder, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "private": true }')
  const tarball = find(folder, /\.tgz$/)
  await say('installed the npm package', () =>
    run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', tarball], project),
  )
  const env = { ...process.env, ENGINE_PYTHON: enginePython, XDG_CACHE_HOME: join(folder, 'cache') }
  await say('used the npm package', async () => {
    await run('npx', ['--no-install', NAME, '--version'], project, env)
    const line = JSON.stringify({ recipe: { task: 'leg_counting', seed: 42 }, answer: '100' })
    writeFileSync(join(project, 'answers.jsonl'), `${line}\n`)
    const { stdout } = await execFileAsync('npx', ['--no-install', NAME, 'score', 'answers.jsonl'], {
      cwd: project,
      env,
    })
    const { reward } = JSON.parse(stdout) as { reward: number } // one verdict a line
    if (reward !== 1) throw new Error(`The right answer has reward ${reward}`)
  })
}

async function say(what: string, work: () => Promise<void>): Promise<void> {
  const began = performance.now()
  await work()
  console.log(`${what} (${((performance.now() - began) / 1000).toFixed(0)} s)`)
}

/** Prints what the command prints. */
async function run(command: string, args: string[], cwd = folder, env: NodeJS.ProcessEnv = process.env): Promise<void> {
  const { stdout, stderr } = await execFileAsync(command, args, { cwd, env, maxBuffer: 2 ** 26 }).catch(
    (error: Error & { stdout?: string; stderr?: string }) => {
      throw new Error(`${command} ${args.join(' ')} failed:\n${error.stdout ?? ''}${error.stderr ?? error.message}`)
    },
  )
  if (command !== 'npm' || stderr.includes('MB')) process.stdout.write(stdout)
}

function canUnshare(): boolean {
  try {
    execFileSync('unshare', ['--net', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function find(where: string, pattern: RegExp): string {
  const name = readdirSync(where).find((file) => pattern.test(file))
  if (name === undefined) throw new Error(`There is no ${pattern} in ${where}`)
  return join(where, name)
}
