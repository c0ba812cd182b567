/** Throw-away Python environments for the baselines, made once under artifacts/. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { requirePython } from '../src/main/bootstrap/python/python-environment.ts'
import { BENCH_ARTIFACTS_DIR } from './machine.ts'

const execFileAsync = promisify(execFile)
const ROOT = join(import.meta.dirname, '..')
export const BASELINES_DIR = join(import.meta.dirname, 'baselines')
/** Stands in for a package that has no wheel. */
const SHIMS_DIR = join(ROOT, 'src', 'engine', 'python', 'shims')

/** For a Python that imports the library. Strings hash alike in every run. */
export const PYTHON_ENV = { ...process.env, PYTHONPATH: SHIMS_DIR, PYTHONHASHSEED: '1' }

/** The server's own pins and what the plain servers are made of. */
export function prepareBaselinePython(): Promise<string> {
  return prepareEnvironment('venv', [
    ['--no-deps', '--require-hashes', '-r', join(ROOT, 'requirements.txt')],
    ['-r', join(BASELINES_DIR, 'requirements.txt')],
  ])
}

export function prepareAtroposPython(): Promise<string> {
  return prepareEnvironment('atropos', [
    ['--no-deps', 'atroposlib'],
    ['-r', join(BASELINES_DIR, 'atropos', 'requirements.txt')],
  ])
}

/** Asks for a newer Python than the server needs. */
export function prepareNemoGymPython(): Promise<string> {
  const requirements = join(BASELINES_DIR, 'nemo-gym-requirements.txt')
  const installs = [
    ['-r', requirements],
    ['--no-deps', 'reasoning-gym==0.1.25'],
  ]
  return prepareEnvironment('nemo-gym', installs, process.env.BENCH_NEMO_GYM_PYTHON ?? 'python3.13')
}

async function prepareEnvironment(name: string, installs: string[][], base?: string): Promise<string> {
  const folder = join(BENCH_ARTIFACTS_DIR, name)
  const python = join(folder, 'bin', 'python')
  const stamp = join(folder, '.installed')
  if (existsSync(stamp)) return python
  console.error(`bench: making ${folder}, once`)
  mkdirSync(BENCH_ARTIFACTS_DIR, { recursive: true })
  await execFileAsync(await requirePython(base), ['-m', 'venv', '--clear', folder])
  for (const install of installs) {
    await execFileAsync(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...install])
  }
  writeFileSync(stamp, '')
  return python
}
