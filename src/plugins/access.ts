/**
 * Who may make which call: one row a route. A route without a row is for admins alone, and a test fails until it has one.
 * Keys that are bound to runs are held to them wherever params, query or body name a run; see guard.ts.
 */
import type { Role } from '../words/caller.ts'

export interface Row {
  /** `anyone`: no key is asked for. */
  roles: readonly Role[] | 'anyone'
  /** What goes over all runs: a bound key must name one of its own, with `?run=` or in the body. */
  boundNamesRun?: true
  /** The run in the body says where it comes from, not what is done to it. */
  bodyRunIsOrigin?: true
}

const anyone: Row = { roles: 'anyone' }
const readers: Row = { roles: ['reader', 'trainer', 'evaluator', 'admin'] }
const readersOfRun: Row = { ...readers, boundNamesRun: true }
const scorers: Row = { roles: ['trainer', 'evaluator', 'admin'] }
const trainers: Row = { roles: ['trainer', 'admin'] }
const evaluators: Row = { roles: ['evaluator', 'admin'] }
const admins: Row = { roles: ['admin'] }

/** By method and url as Fastify spells it; `/*` at the end stands for whatever follows. HEAD is as GET. */
export const ACCESS: Readonly<Record<string, Row>> = {
  // Probes, and pages that ask for a key themselves. The API's document is in the repository: no secret.
  'GET /livez': anyone,
  'GET /readyz': anyone,
  'GET /': anyone,
  'GET /dashboard/*': anyone,
  'GET /docs': anyone,
  'GET /docs/*': anyone,
  'GET /openapi.json': anyone,

  'GET /metrics': readers,
  'GET /overview': readers,
  'GET /events': readers,
  'GET /tasks': readers,
  'GET /tasks/:task': readers,

  'POST /items': trainers,
  'POST /items/find': admins, // it tells the answer
  'GET /items/:id': readers,
  'POST /score': scorers,
  'POST /rollouts': trainers,
  'GET /rollouts/:group': readers,

  'GET /runs': readers,
  'GET /runs/:run': readers,
  'PUT /runs/:run': trainers,
  'DELETE /runs/:run': trainers,
  'GET /runs/:run/history': readers,
  'GET /runs/:run/metrics': readers,
  'GET /runs/:run/groups': readers,
  'GET /runs/:run/export': readers,
  'GET /runs/:run/checkpoint': trainers,
  'PUT /runs/:run/checkpoint': { ...trainers, bodyRunIsOrigin: true },
  'POST /runs/:run/batches': trainers,
  'GET /runs/:run/batches/:step': trainers,
  'POST /runs/:run/batches/:step/ack': trainers,
  'POST /runs/:run/collect': trainers,
  'GET /runs/:run/collect/:id': readers,
  'GET /runs/:run/collect/:id/events': readers,
  'DELETE /runs/:run/collect/:id': trainers,
  'POST /runs/:run/collect/:id/resume': trainers,
  'GET /runs/:run/collect': readers,

  'GET /eval': readersOfRun,
  'POST /eval': { ...evaluators, boundNamesRun: true },
  'GET /eval/suites': readers,
  'GET /eval/suites/:suite': readers,
  'GET /eval/compare': readers,
  'GET /eval/:id': readers,
  'DELETE /eval/:id': evaluators,
  'GET /eval/:id/events': readers,
  'GET /eval/:id/samples': readers,
  'GET /eval/:id/report': readers,
  'GET /eval/:id/items': evaluators,
  'POST /eval/:id/completions': evaluators,
  'POST /eval/:id/finish': evaluators,
  'POST /eval/:id/resume': evaluators,

  'GET /dumps': readersOfRun,
  'GET /dumps/:name': readers,
  'DELETE /dumps/:name': admins,

  'GET /jobs/failed': admins,
  'POST /jobs/failed/:id/retry': admins,
}

export function rowOf(method: string, url: string): Row | undefined {
  if (method === 'OPTIONS') return anyone // what browsers ask first, without a key; see pages.ts
  const verb = method === 'HEAD' ? 'GET' : method
  const exact = ACCESS[`${verb} ${url === '/' ? url : url.replace(/\/$/, '')}`]
  if (exact) return exact
  const above = Object.keys(ACCESS).filter((key) => key.endsWith('/*') && `${verb} ${url}`.startsWith(key.slice(0, -1)))
  return ACCESS[above.toSorted((a, b) => b.length - a.length)[0] ?? '']
}

export function mayCall(role: Role | null, { roles }: Row): boolean {
  return roles === 'anyone' || (role !== null && roles.includes(role))
}
