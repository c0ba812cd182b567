/** A server that a command starts for itself: loopback only, without API keys, with one process of each kind. */
import { type ChildServer, startChildServer } from '../main/bootstrap/child-server.ts'
import { ensurePythonEnvironment } from '../main/bootstrap/python/python-environment.ts'
import { readConfig } from '../platform/environment.ts'
import { getInterruptSignal } from './interrupt-signal.ts'
import { printStatus } from './output.ts'

interface TemporaryServerParams {
  /** Whether the server keeps its data in DATA_DIR, so that later commands find it. */
  keeps: boolean
  env: Record<string, string>
}

export async function startTemporaryServer({ keeps, env }: TemporaryServerParams): Promise<ChildServer> {
  const { DATA_DIR, PYTHON } = readConfig()
  await ensurePythonEnvironment(printStatus, PYTHON) // not in the child, whose output is hidden and whose startup has a deadline
  const settings = {
    HOST: '127.0.0.1',
    API_KEYS: '',
    API_KEYS_FILE: '',
    API_PROCESSES: '1',
    WORKERS: '1',
    ...(keeps && { DATA_DIR }),
  }
  return startChildServer({ ...settings, ...env }, getInterruptSignal())
}
