/** The Python environment of a first start that is killed: the next start needs no help. Real Python, a project of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { requirePython } from '../../../../src/main/bootstrap/python/python-environment.ts'
import { buildVenv, installPackages, VenvFiles } from '../../../../src/main/bootstrap/python/venv.ts'
import { until } from '../../../world.ts'

const SLOW = { timeout: 300_000 }
const BOOTSTRAP = join(import.meta.dirname, '../../../../src/main/bootstrap/python')
const CODE = `
  const { ensurePythonEnvironment } = await import(process.argv[1] + '/python-environment.ts')
  const { VenvFiles } = await import(process.argv[1] + '/venv.ts')
  await ensurePythonEnvironment(console.log, undefined, console.log, new VenvFiles(process.argv[2]))`

let root: string
let files: VenvFiles
const starts: ChildProcess[] = []
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'rgs-first-'))
  files = new VenvFiles(root)
  writeFileSync(join(root, 'requirements.txt'), '# nothing: pip comes with the environment\n')
})
afterEach(() => {
  for (const child of starts.splice(0)) child.kill('SIGKILL')
  rmSync(root, { recursive: true, force: true, maxRetries: 20 })
})

interface Start {
  output(): string
  /** Resolves to its exit code, null if the signal ended it. */
  kill(signal: NodeJS.Signals): Promise<number | null>
  ended: Promise<number | null>
}

function start(): Start {
  const child = spawn(process.execPath, ['--input-type=module', '-e', CODE, BOOTSTRAP, root], { stdio: 'pipe' })
  starts.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    output: () => output,
    ended,
    async kill(signal) {
      child.kill(signal)
      return ended
    },
  }
}

/** Processes that have this project in their command line. */
const listProcesses = () =>
  globSync('/proc/[0-9]*/cmdline').filter((path) => {
    try {
      return readFileSync(path, 'utf8').includes(root)
    } catch {
      return false // it has ended
    }
  })
const appears = (pattern: string) => () => globSync(join(files.venv, pattern)).length > 0

it(
  'a start that is killed at any point leaves nothing that disturbs the next, and two at once make one',
  SLOW,
  async () => {
    const points: [NodeJS.Signals, (start: Start) => boolean][] = [
      ['SIGINT', ({ output }) => output().includes('Preparing the Python environment')],
      ['SIGKILL', appears('pyvenv.cfg')],
      ['SIGINT', appears('bin/python')],
      ['SIGKILL', appears('lib/python3*/site-packages/pip/_vendor')],
    ]
    const interrupt = async (signal: NodeJS.Signals, isReached: (start: Start) => boolean) => {
      rmSync(files.venv, { recursive: true, force: true }) // so that the point is one of this start
      const interrupted = start()
      await until(async () => isReached(interrupted), Boolean, 60_000)
      return interrupted.kill(signal)
    }
    for (const [signal, isReached] of points) {
      while ((await interrupt(signal, isReached)) === 0); // on a busy machine, it may be done before the signal comes
      await until(
        async () => listProcesses(),
        (left) => left.length === 0,
      ) // no pip goes on by itself
      expect(files.getState('requirements.txt')).not.toBe('ready')
    }
    const rest = join(files.venv, 'lib', 'rest')
    writeFileSync(rest, '')
    const both = [start(), start()]
    expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([0, 0])
    expect(both.filter(({ output }) => output().includes('Preparing'))).toHaveLength(1)
    expect(files.getState('requirements.txt')).toBe('ready')
    expect(existsSync(rest)).toBe(false)
    await expectBrokenPackageMended()
  },
)

it(
  'an active environment with other pins is made again by its own Python, and what fails leaves nothing',
  SLOW,
  async () => {
    const python = await requirePython(undefined)
    execFileSync(python, ['-m', 'venv', '--without-pip', files.venv])
    files.writeStamp('requirements.txt')
    writeFileSync(join(root, 'requirements.txt'), '# other pins\n')
    await buildVenv(files, files.python, () => {})
    expect(files.getState('requirements.txt')).toBe('ready')
    writeFileSync(join(root, 'requirements.txt'), 'no-such-file @ file:///no/such/file\n')
    await expect(buildVenv(files, python, () => {})).rejects.toThrow('pip could not install requirements.txt')
    expect(files.getState('requirements.txt')).toBe('missing')
  },
)

/** As an install leaves it that was killed: pip's metadata says that the package is there, but its files are not. */
async function expectBrokenPackageMended(): Promise<void> {
  const wheel = join(root, 'tiny-1.0-py3-none-any.whl')
  execFileSync(files.python, ['-c', MAKE_WHEEL, wheel])
  const hash = createHash('sha256').update(readFileSync(wheel)).digest('hex')
  writeFileSync(join(root, 'requirements-redis.txt'), `tiny @ file://${wheel} --hash=sha256:${hash}\n`)
  const install = () => installPackages(files, 'requirements-redis.txt', () => {})
  await install()
  const [module = ''] = globSync(join(files.venv, 'lib/python3*/site-packages/tiny.py'))
  rmSync(module)
  await install()
  expect(existsSync(module)).toBe(true)
}

const MAKE_WHEEL = `
import sys, zipfile
info = "tiny-1.0.dist-info/"
content = {
    "tiny.py": "x = 1\\n",
    info + "METADATA": "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n",
    info + "WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
}
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    for name, text in content.items():
        wheel.writestr(name, text)
    wheel.writestr(info + "RECORD", "".join(f"{name},,\\n" for name in [*content, info + "RECORD"]))
`

it('a waiting start names the process that it waits for, and goes on once the lock is free', SLOW, async () => {
  const lock = files.tryLock()
  const waiting = start()
  await until(
    async () => waiting.output(),
    (output) => output.includes(`waiting for process ${process.pid}, which prepares the Python environment`),
  )
  expect(waiting.output()).not.toContain('Preparing')
  lock?.release()
  await until(
    async () => waiting.output(),
    (output) => output.includes('Preparing'),
  )
  await waiting.kill('SIGKILL')
})

it('an environment whose interpreter is gone is made again', () => {
  expect(files.getState('requirements.txt')).toBe('missing')
  execFileSync('mkdir', ['-p', join(files.venv, 'bin')])
  files.writeStamp('requirements.txt')
  symlinkSync('/usr/bin/env', files.python)
  expect(files.getState('requirements.txt')).toBe('ready')
  rmSync(files.python)
  symlinkSync('/no/such/python', files.python)
  expect(files.getState('requirements.txt')).toBe('incomplete')
})
