/** A server that a command starts for itself: loopback only, without API keys, with one process of each kind. */
import { getInterruptSignal } from '@reasoning-gym-server/cli/interrupt-signal'
import { printStatus } from '@reasoning-gym-server/cli/output'
import type { ServerRequirements } from '@reasoning-gym-server/cli/with-server'
import { readConfig } from '../../platform/environment.ts'
import { type ChildServer, startChildServer } from '../bootstrap/child-server.ts'
import { ensurePythonEnvironment } from '../bootstrap/python/python-environment.ts'

export async function startTemporaryServer({
  keeps,
  modelHosts,
  usesConfiguredPort,
}: ServerRequirements): Promise<ChildServer> {
  const { DATA_DIR, PORT, PYTHON, MODEL_HOSTS } = readConfig()
  await ensurePythonEnvironment(printStatus, PYTHON) // not in the child, whose output is hidden and whose startup has a deadline
  const settings = {
    HOST: '127.0.0.1',
    API_KEYS: '',
    API_KEYS_FILE: '',
    API_PROCESSES: '1',
    WORKERS: '1',
    ...(keeps && { DATA_DIR }),
    ...(usesConfiguredPort && { PORT: String(PORT) }),
    ...(modelHosts && { MODEL_HOSTS: [...MODEL_HOSTS, ...modelHosts].join(',') }),
  }
  return startChildServer(settings, getInterruptSignal())
}
