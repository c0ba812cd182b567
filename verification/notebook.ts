/**
 * Runs examples/from-zero-to-a-training-curve.ipynb headless, in an environment with Jupyter's client, on a server of its own. The
 * notebook asserts that its policy learns. Option: `--keep FILE` stores the executed notebook, with its curves.
 */

import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { requirePython } from '../src/main/bootstrap/python/python-environment.ts'
import { startChildServer } from './support/with-server.ts'

const execFileAsync = promisify(execFile)
const ROOT = join(import.meta.dirname, '..')
const NOTEBOOK = 'from-zero-to-a-training-curve.ipynb'
const PACKAGES = ['nbclient==0.10.2', 'ipykernel==6.29.5', 'matplotlib==3.10.3']
const RUN_NOTEBOOK = `
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])`

const { values } = parseArgs({ options: { keep: { type: 'string' } } })
const folder = mkdtempSync(join(tmpdir(), 'rgs-notebook-'))
try {
  const python = join(folder, 'venv', 'bin', 'python')
  await execFileAsync(await requirePython(process.env.PYTHON), ['-m', 'venv', join(folder, 'venv')])
  await execFileAsync(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...PACKAGES])
  const done = join(folder, 'done.ipynb')
  const server = await startChildServer()
  try {
    const env = {
      ...process.env,
      REASONING_GYM_URL: server.url,
      PYTHONPATH: join(ROOT, 'clients', 'python'),
      MPLBACKEND: 'module://matplotlib_inline.backend_inline',
    }
    await execFileAsync(python, ['-c', RUN_NOTEBOOK, join(ROOT, 'examples', NOTEBOOK), done], { env, cwd: folder })
  } finally {
    await server.stop()
  }
  for (const text of readOutputs(done)) console.log(text.trimEnd())
  if (!readFileSync(done, 'utf8').includes('"image/png"')) throw new Error('The notebook has drawn no curve')
  if (values.keep) copyFileSync(done, values.keep)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function readOutputs(path: string): string[] {
  const { cells } = JSON.parse(readFileSync(path, 'utf8')) as { cells: { outputs?: { text?: string[] | string }[] }[] } // nbformat 4
  return cells.flatMap(({ outputs = [] }) => outputs.flatMap(({ text = [] }) => [text].flat().join('')))
}
