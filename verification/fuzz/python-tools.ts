/** A Python environment for tools that no server needs, in `artifacts/`, made of scripts/python/requirements/NAME.txt and its hashes. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
export const ARTIFACTS_DIR = join(ROOT, 'artifacts')

/** The folder of its programs. */
export function installTools(name: 'tools' | 'typing' = 'tools'): string {
  const requirements = join(ROOT, 'scripts', 'python', 'requirements', `${name}.txt`)
  const venv = join(ARTIFACTS_DIR, name)
  const pins = readFileSync(requirements, 'utf8')
  const mark = join(venv, 'requirements.txt')
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== pins) {
    console.log(`installing ${requirements} in ${venv}`)
    rmSync(venv, { recursive: true, force: true })
    mkdirSync(ARTIFACTS_DIR, { recursive: true })
    execFileSync('python3', ['-m', 'venv', venv], { stdio: 'inherit' })
    const install = ['install', '--quiet', '--require-hashes', '--no-deps', '-r', requirements]
    execFileSync(join(venv, 'bin', 'pip'), install, { stdio: 'inherit' })
    writeFileSync(mark, pins)
  }
  return join(venv, 'bin')
}
