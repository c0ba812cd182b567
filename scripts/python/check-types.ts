/** `npm run check:python`: mypy --strict and pyright on the Python packages and on test/clients/typing. The integrations import trainers. */
import { execFile } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ARTIFACTS_DIR, installTools } from '../../verification/fuzz/python-tools.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const CLIENT = join(ROOT, 'clients', 'python')
const USES = join(ROOT, 'test', 'clients', 'typing')
const PATHS = [join(CLIENT, 'reasoning_gym_client'), join(CLIENT, 'server', 'reasoning_gym_server'), USES]

const bin = installTools('typing')
const [pyright] = globSync(join(bin, '..', 'lib', 'python3*', 'site-packages', 'basedpyright', 'index.js'))
if (pyright === undefined) throw new Error('basedpyright is not installed')

/** Pyright's own rules at level "standard"; errors that a `type: ignore` hides are checked by mypy, which fails on a needless one. */
const config = join(ARTIFACTS_DIR, 'pyright', 'pyrightconfig.json')
mkdirSync(join(ARTIFACTS_DIR, 'pyright'), { recursive: true })
const settings = {
  include: PATHS,
  ignore: [join(CLIENT, 'reasoning_gym_client', 'integrations')],
  extraPaths: [CLIENT],
  typeCheckingMode: 'standard',
  pythonVersion: '3.10',
  enableTypeIgnoreComments: true,
  reportPossiblyUnboundVariable: false, // it does not see that a failed attempt raises or is repeated
}
writeFileSync(config, JSON.stringify(settings))

const [mypy, other] = await Promise.all([
  check(join(bin, 'mypy'), [
    '--strict',
    '--cache-dir',
    join(ARTIFACTS_DIR, 'mypy'),
    '--exclude',
    'integrations',
    ...PATHS,
  ]),
  check(process.execPath, [pyright, '-p', config, '--level', 'error', '--pythonpath', join(bin, 'python')]),
])
const hidden = readFileSync(join(USES, 'uses.py'), 'utf8').match(/# type: ignore\[/g)?.length ?? 0
console.log(`mypy: ${mypy.output}\npyright: ${other.output}\n${hidden} wrong uses are rejected`)
process.exitCode = mypy.code || other.code

function check(program: string, args: string[]): Promise<{ code: number; output: string }> {
  const options = { cwd: ROOT, env: { ...process.env, MYPYPATH: CLIENT } }
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : 1, output: `${stdout}${stderr}`.trim() })
    })
  })
}
