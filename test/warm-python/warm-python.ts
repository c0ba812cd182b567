/** The command of test/warm-python/warm_python.py, under which zygotes start within milliseconds. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const SCRIPT = join(import.meta.dirname, 'warm_python.py')

export interface WarmPython {
  /** Stands in for `python`. */
  command: string
  stop(): void
}

export async function startWarmPython(python: string, folder: string): Promise<WarmPython> {
  const [command, socket] = [join(folder, 'python'), join(folder, 'python.sock')]
  const env = { PYTHONHASHSEED: '1', PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', OPENBLAS_NUM_THREADS: '1' } // as in zygote.ts
  const server = spawn(python, ['-s', '-B', SCRIPT, 'serve', socket], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  await Promise.race([once(server.stdout, 'data'), once(server, 'exit').then(failToStart)])
  writeFileSync(command, `#!/bin/sh\nexec '${python}' -I -S -B '${SCRIPT}' run '${socket}' '${python}' "$@"\n`, {
    mode: 0o755,
  })
  return { command, stop: () => void server.kill() }
}

function failToStart(): never {
  throw new Error('The warm Python process of the tests has ended at its start')
}
