/** A Python environment for tools that no server needs, in `artifacts/`, made of requirements-tools.txt and its hashes. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
export const ARTIFACTS_DIR = join(ROOT, 'artifacts')

/** The folder of its programs. */
export function installTools(): string {
  const venv = join(ARTIFACTS_DIR, 'tools')
  const pins = readFileSync(join(ROOT, 'requirements-tools.txt'), 'utf8')
  const mark = join(venv, 'requirements-tools.txt')
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== pins) {
    console.log(`installing requirements-tools.txt in ${venv}`)
    rmSync(venv, { recursive: true, force: true })
    mkdirSync(ARTIFACTS_DIR, { recursive: true })
    execFileSync('python3', ['-m', 'venv', venv], { stdio: 'inherit' })
    const install = ['install', '--quiet', '--require-hashes', '-r', join(ROOT, 'requirements-tools.txt')]
    execFileSync(join(venv, 'bin', 'pip'), install, { stdio: 'inherit' })
    writeFileSync(mark, pins)
  }
  return join(venv, 'bin')
}
