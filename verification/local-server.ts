/**
 * Kills API, worker, Redis and serve while a Python client uses them through LocalServer, from this checkout. `packages` does the
 * same with the installed wheel. It ends with 1 if anything accepted is lost or any process is left behind.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { ensurePythonEnvironment } from '../src/main/bootstrap/python/python-environment.ts'

const python = await ensurePythonEnvironment(console.error)
const script = join(import.meta.dirname, 'packages', 'kill_local_server.py')
const env = { ...process.env, NODE: process.execPath, PYTHONDONTWRITEBYTECODE: '1' }
const [code] = await once(spawn(python, [script], { env, stdio: 'inherit' }), 'exit')
process.exitCode = Number(code ?? 1)
