/**
 * The access rule of each route. A route without a rule is for admins only, and a test fails until it has one. A key bound to
 * runs can only access those runs, wherever params, query or body name a run; see authorization.ts.
 */
import type { ApiKeyRole } from '@reasoning-gym-server/contract/caller'

export interface AccessRule {
  /** `anyone`: no key is required. */
  roles: readonly ApiKeyRole[] | 'anyone'
  /** The route spans all runs: a bound key must name one of its runs, with `?run=` or in the body. */
  requiresRunForBoundKey?: true
  /** The run in the body names the origin of the data, not the target of the call. */
  ignoresBodyRun?: true
}

const anyone: AccessRule = { roles: 'anyone' }
const readers: AccessRule = { roles: ['reader', 'trainer', 'evaluator', 'admin'] }
const readersNamingRun: AccessRule = { ...readers, requiresRunForBoundKey: true }
const scorers: AccessRule = { roles: ['trainer', 'evaluator', 'admin'] }
const trainers: AccessRule = { roles: ['trainer', 'admin'] }
const trainersNamingRun: AccessRule = { ...trainers, requiresRunForBoundKey: true }
const evaluators: AccessRule = { roles: ['evaluator', 'admin'] }
const admins: AccessRule = { roles: ['admin'] }

/** By method and URL as Fastify writes them; `/*` at the end matches any rest. HEAD has the rule of GET. */
export const ACCESS_RULES: Readonly<Record<string, AccessRule>> = {
  // Probes, and pages that have their own field for a key. The OpenAPI document is public.
  'GET /livez': anyone,
  'GET /readyz': anyone,
  'GET /': anyone,
  'GET /dashboard/*': anyone,
  'GET /docs': anyone,
  'GET /docs/*': anyone,
  'GET /openapi.json': anyone,

  'GET /whoami': readers,
  'GET /metrics': readers,
  'GET /overview': readers,
  'GET /events': readers,
  'GET /tasks': readers,
  'GET /tasks/:task': readers,

  'POST /items': trainers,
  'POST /items/find': admins, // the response contains the answer
  'GET /items/:id': readers,
  'GET /adapters': readers,
  'GET /dataset.jsonl': scorers,
  'GET /dataset.jsonl.gz': scorers,
  'POST /score': scorers,
  'POST /samples': scorers,
  'POST /runs/:run/samples': trainers,
  'POST /openrlhf/get_reward': scorers,
  'POST /openrlhf/:run/get_reward': trainers,
  'POST /slime/rm': scorers,
  'POST /slime/:run/rm': trainers,
  'POST /nemo-gym/verify': scorers,
  'POST /nemo-gym/:run/verify': trainers,
  'POST /nemo-gym/seed_session': scorers,
  'POST /nemo-gym/:run/seed_session': trainers,
  'POST /nemo-gym/close_session': scorers,
  'POST /nemo-gym/:run/close_session': trainers,
  'POST /nemo-gym/aggregate_metrics': scorers,
  'POST /nemo-gym/:run/aggregate_metrics': trainers,
  'GET /nemo-gym/reverify_mode': scorers,
  'GET /nemo-gym/:run/reverify_mode': trainers,
  'GET /global_config_dict_yaml': scorers,
  'POST /rollouts': trainers,
  'GET /rollouts/:group': readers,

  // Names and shapes, for tools that send no key.
  'GET /openenv/health': anyone,
  'GET /openenv/:run/health': anyone,
  'GET /openenv/metadata': anyone,
  'GET /openenv/:run/metadata': anyone,
  'GET /openenv/schema': anyone,
  'GET /openenv/:run/schema': anyone,
  'GET /openenv/openapi.json': anyone,
  'GET /openenv/:run/openapi.json': anyone,
  'GET /openenv/state': trainers,
  'GET /openenv/:run/state': trainers,
  'GET /openenv/ws': trainers,
  'GET /openenv/:run/ws': trainers,
  'POST /openenv/reset': trainers,
  'POST /openenv/:run/reset': trainers,
  'POST /openenv/step': trainers,
  'POST /openenv/:run/step': trainers,
  'POST /openenv/mcp': trainers,
  'POST /openenv/:run/mcp': trainers,
  'POST /mcp': trainers,

  'POST /demo': trainersNamingRun,

  'GET /runs': readers,
  'GET /runs/:run': readers,
  'PUT /runs/:run': trainers,
  'PATCH /runs/:run': trainers,
  'DELETE /runs/:run': trainers,
  'GET /runs/:run/history': readers,
  'GET /runs/:run/metrics': readers,
  'GET /runs/:run/histograms': readers,
  'GET /runs/:run/task-metrics': readers,
  'GET /runs/:run/groups': readers,
  'GET /runs/:run/groups/:group': readers,
  'GET /runs/:run/export': readers,
  'GET /runs/:run/checkpoint': trainers,
  'PUT /runs/:run/checkpoint': { ...trainers, ignoresBodyRun: true },
  'POST /runs/:run/batches': trainers,
  'GET /runs/:run/batches/:step': trainers,
  'POST /runs/:run/batches/:step/ack': trainers,
  'POST /runs/:run/collect': trainers,
  'GET /runs/:run/collect/:id': readers,
  'GET /runs/:run/collect/:id/events': readers,
  'DELETE /runs/:run/collect/:id': trainers,
  'POST /runs/:run/collect/:id/resume': trainers,
  'GET /runs/:run/collect': readers,

  'GET /eval': readersNamingRun,
  'POST /eval': { ...evaluators, requiresRunForBoundKey: true },
  'GET /eval/suites': readers,
  'GET /eval/suites/:suite': readers,
  'GET /eval/suites/:suite/dataset.jsonl': scorers,
  'GET /eval/suites/:suite/dataset.jsonl.gz': scorers,
  'GET /eval/compare': readers,
  'GET /eval/compare/items': readers,
  'GET /eval/:id': readers,
  'DELETE /eval/:id': evaluators,
  'GET /eval/:id/events': readers,
  'GET /eval/:id/samples': readers,
  'GET /eval/:id/samples/:sample': readers, // expected answers follow the rule of sample-pages.ts
  'GET /eval/:id/report': readers,
  'GET /eval/:id/items': evaluators,
  'POST /eval/:id/completions': evaluators,
  'POST /eval/:id/finish': evaluators,
  'POST /eval/:id/resume': evaluators,

  'GET /duels': readersNamingRun,
  'POST /duels': { ...evaluators, requiresRunForBoundKey: true },
  'GET /duels/:id': readers,
  'DELETE /duels/:id': evaluators,
  'GET /duels/:id/events': readers,
  'GET /duels/:id/items': readers,
  'GET /duels/:id/report': readers,
  'POST /duels/:id/resume': evaluators,

  'GET /dumps': readersNamingRun,
  'GET /dumps/:name': readers,
  'DELETE /dumps/:name': admins,

  // The store of all, and stores of their own, whose names keys can be bound to. Environments need a trainer's key as well.
  'GET /atropos': readersNamingRun,
  'POST /atropos/register': trainersNamingRun,
  'GET /atropos/batch': trainersNamingRun,
  'GET /atropos/info': readersNamingRun,
  'GET /atropos/wandb_info': readersNamingRun,
  'GET /atropos/status': readersNamingRun,
  'GET /atropos/latest_example': readersNamingRun,
  'GET /atropos/reset_data': admins,
  'POST /atropos/register-env': trainersNamingRun,
  'POST /atropos/disconnect-env': trainersNamingRun,
  'GET /atropos/status-env': trainersNamingRun,
  'POST /atropos/scored_data': trainersNamingRun,
  'POST /atropos/scored_data_list': trainersNamingRun,
  'GET /atropos/:run': readers,
  'POST /atropos/:run/register': trainers,
  'GET /atropos/:run/batch': trainers,
  'GET /atropos/:run/info': readers,
  'GET /atropos/:run/wandb_info': readers,
  'GET /atropos/:run/status': readers,
  'GET /atropos/stores/:run': readers,
  'POST /atropos/stores/:run/register': trainers,
  'GET /atropos/stores/:run/batch': trainers,
  'GET /atropos/stores/:run/info': readers,
  'GET /atropos/stores/:run/wandb_info': readers,
  'GET /atropos/stores/:run/status': readers,
  'GET /atropos/stores/:run/latest_example': readers,
  'GET /atropos/stores/:run/reset_data': trainers,
  'POST /atropos/stores/:run/register-env': trainers,
  'POST /atropos/stores/:run/disconnect-env': trainers,
  'GET /atropos/stores/:run/status-env': trainers,
  'POST /atropos/stores/:run/scored_data': trainers,
  'POST /atropos/stores/:run/scored_data_list': trainers,

  'GET /jobs/failed': admins,
  'POST /jobs/failed/:id/retry': admins,
}

/** Rules of the routes on ORS_PORT, which has its own root. */
export const ORS_ACCESS_RULES: Readonly<Record<string, AccessRule>> = {
  'GET /health': anyone,
  'GET /version': readers,
  'GET /list_environments': readers,
  'POST /create_session': readers, // each of the calls below has one
  'POST /delete_session': readers,
  'POST /create': trainers,
  'POST /ping': trainers,
  'POST /delete': trainers,
  ...Object.fromEntries(
    ['', '/:env'].flatMap((prefix) => [
      ...['GET tools', 'GET splits', 'POST num_tasks', 'POST tasks', 'POST task_range', 'POST task'].map(
        (route) => [route.replace(' ', ` ${prefix}/`), readers] as const,
      ),
      ...['GET task_tools', 'GET prompt', 'GET messages', 'POST call', 'POST score_group'].map(
        (route) => [route.replace(' ', ` ${prefix}/`), trainers] as const,
      ),
    ]),
  ),
}

export function getAccessRule(method: string, url: string): AccessRule | undefined {
  if (method === 'OPTIONS') return anyone // browsers send preflight requests without a key; see cors-and-security-headers.ts
  const verb = method === 'HEAD' ? 'GET' : method
  const route = `${verb} ${url === '/' ? url : url.replace(/\/$/, '')}`
  const exact = ACCESS_RULES[route] ?? ORS_ACCESS_RULES[route]
  if (exact) return exact
  const above = Object.keys(ACCESS_RULES).filter(
    (key) => key.endsWith('/*') && `${verb} ${url}`.startsWith(key.slice(0, -1)),
  )
  return ACCESS_RULES[above.toSorted((a, b) => b.length - a.length)[0] ?? '']
}

export function isRoleAllowed(role: ApiKeyRole | null, { roles }: AccessRule): boolean {
  return roles === 'anyone' || (role !== null && roles.includes(role))
}
