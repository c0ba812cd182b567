/** The simulated trainer of a demo, over HTTP, for tests of the dashboard. */
import { KnownItem } from '@reasoning-gym-server/mock-model/item-lookup'
import { createDemoServer, type DemoCall } from '../../src/demo/demo-server.ts'
import { DEMO_SETTINGS, type DemoOptions, trainLearner } from '../../src/demo/trainer.ts'

interface DemoOverHttp extends Pick<DemoOptions, 'run' | 'steps' | 'horizon' | 'groups' | 'groupSize'> {
  evals?: boolean
}

/** Replaces the run by one with the settings of a demo, and trains it as fast as the server can. */
export async function trainOnRun(url: string, options: DemoOverHttp): Promise<void> {
  const { run } = options
  const removed = await fetch(`${url}/runs/${run}`, { method: 'DELETE' })
  if (!removed.ok && removed.status !== 404) throw new Error(`DELETE /runs/${run}: ${await removed.text()}`)
  await createDemoServer((call) => send(url, call), rejectLookUp).call({
    method: 'PUT',
    path: `/runs/${run}`,
    body: DEMO_SETTINGS,
  })
  await trainOverHttp(url, options)
}

/** Trains a run that exists. */
export async function trainOverHttp(url: string, { evals = false, ...options }: DemoOverHttp): Promise<void> {
  const lookUp = async (id: string) =>
    KnownItem.parse(await server.call({ method: 'GET', path: `/items/${id}?reveal=true` }))
  const server = createDemoServer((call) => send(url, call), lookUp)
  await trainLearner(server, { ...options, evals, stepMs: 0 })
}

const rejectLookUp = () => Promise.reject(new Error('no item is looked up'))

async function send(url: string, { method, path, body, headers }: DemoCall) {
  const response = await fetch(url + path, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const retryAfter = response.headers.get('retry-after')
  const text = await response.text()
  return {
    status: response.status,
    retryAfterS: retryAfter === null ? undefined : Number(retryAfter),
    body: text === '' ? undefined : (JSON.parse(text) as unknown),
  }
}
