/** Throw-away Python environments for the baselines, made once under artifacts/. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findPython } from '../src/prepare/python-environment.ts'
import { ARTIFACTS } from './machine.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '..')
export const BASELINES = join(import.meta.dirname, 'baselines')
/** Stands in for a package that has no wheel. */
const SHIMS = join(ROOT, 'src', 'engine', 'host', 'shims')

/** For a Python that imports the library. Strings hash alike in every run. */
export const PYTHON_ENVIRONMENT = { ...process.env, PYTHONPATH: SHIMS, PYTHONHASHSEED: '1' }

/** The server's own pins and what the plain servers are made of. */
export function pythonOfBaselines(): Promise<string> {
  return prepare('venv', [
    ['--no-deps', '--require-hashes', '-r', join(ROOT, 'requirements.txt')],
    ['-r', join(BASELINES, 'requirements.txt')],
  ])
}

export function pythonOfAtropos(): Promise<string> {
  return prepare('atropos', [
    ['--no-deps', 'atroposlib'],
    ['-r', join(BASELINES, 'atropos', 'requirements.txt')],
  ])
}

async function prepare(name: string, installs: string[][]): Promise<string> {
  const folder = join(ARTIFACTS, name)
  const python = join(folder, 'bin', 'python')
  const stamp = join(folder, '.installed')
  if (existsSync(stamp)) return python
  console.error(`bench: making ${folder}, once`)
  mkdirSync(ARTIFACTS, { recursive: true })
  await run(await findPython(undefined), ['-m', 'venv', '--clear', folder])
  for (const install of installs) {
    await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...install])
  }
  writeFileSync(stamp, '')
  return python
}
