/** A client of openapi-fetch with the types of openapi-typescript. */
import createClient from 'openapi-fetch'
import type { paths } from './schema.d.ts'

const client = createClient<paths>({ baseUrl: process.argv[2] ?? '' })

const created = await client.POST('/items', { body: { task: 'leg_counting', seed: 42, index: 0, count: 1 } })
const item = created.data?.items[0]
if (!item) throw new Error(created.error?.detail ?? 'no item')

const { data: posted, error } = await client.POST('/rollouts', {
  params: { header: { prefer: 'wait=30' } },
  body: {
    run: 'openapi-fetch',
    group_id: 'group-1',
    item_id: item.id,
    rollouts: [{ completion: '<think>…</think><answer>100</answer>' }, { completion: 'no answer' }],
  },
})
if (!posted || !('status' in posted)) throw new Error(error?.detail ?? 'no group')
const rewards = (posted.verdicts ?? []).map((verdict) => (verdict.status === 'scored' ? verdict.reward : verdict.code))
if (rewards.length !== 2) throw new Error(`verdicts: ${JSON.stringify(posted)}`)

const missing = await client.GET('/runs/{run}', { params: { path: { run: 'no-such-run' } } })
if (missing.error?.code !== 'unknown_run') throw new Error(`code: ${JSON.stringify(missing)}`)
console.log(JSON.stringify({ item: item.id, rewards, code: missing.error.code }))
