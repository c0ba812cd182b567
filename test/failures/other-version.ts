/** A copy of this server with another version of the library, as it was before an upgrade: its own sources and environment. */
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ENGINE_VERSION } from '../../src/engine/version.ts'
import { createLibrarySocketEnv } from '../../src/platform/installation.ts'

const PROJECT = join(import.meta.dirname, '..', '..')
type ChildServerModule = typeof import('../../src/main/bootstrap/child-server.ts')

export interface ServerCopy {
  start: ChildServerModule['startChildServer']
  remove(): void
}

/** `venv`: the environment to copy. Its library stays the same, and calls itself `version`. */
export async function copyServerWithVersion(version: string, venv: string): Promise<ServerCopy> {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-version-'))
  for (const name of ['src', 'routes', 'packages', 'suites', 'package.json', 'requirements.txt'])
    cpSync(join(PROJECT, name), join(folder, name), { recursive: true })
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
  execFileSync('cp', ['-al', realpathSync(venv), join(folder, '.venv')]) // as links; it may be a link itself
  const [metadata = ''] = globSync(join(folder, '.venv/lib/*/site-packages/reasoning_gym-*.dist-info/METADATA'))
  for (const file of [join(folder, 'src/engine/version.ts'), metadata]) {
    if (!realpathSync(file).startsWith(realpathSync(folder))) throw new Error(`${file} is not in the copy`)
    const text = readFileSync(file, 'utf8')
    rmSync(file) // it shares its content with the original, which stays as it is
    writeFileSync(file, text.replaceAll(ENGINE_VERSION, version))
  }
  const module = (await import(join(folder, 'src/main/bootstrap/child-server.ts'))) as ChildServerModule // a copy of it
  const start: ServerCopy['start'] = (env, options) =>
    module.startChildServer({ ...createLibrarySocketEnv(''), ...env }, options)
  return { start, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The folder of an environment. */
export function venvOf(python: string): string {
  return dirname(dirname(python))
}
