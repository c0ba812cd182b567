/** The client that @hey-api/openapi-ts generates. */

import { client } from './hey-api/client.gen.ts'
import { createItems, getRun, submitRollouts, updateRun } from './hey-api/index.ts'

client.setConfig({ baseUrl: process.argv[2] ?? '' })

const created = await createItems({ body: { task: 'leg_counting', seed: 42, count: 1 } })
const item = created.data?.items[0]
if (!item) throw new Error(created.error?.detail ?? 'no item')

await updateRun({ path: { run: 'hey-api' }, body: {}, throwOnError: true })
const { data: posted, error } = await submitRollouts({
  headers: { prefer: 'wait=30' },
  body: {
    run: 'hey-api',
    group_id: 'group-1',
    item_id: item.id,
    rollouts: [{ completion: '<think>…</think><answer>100</answer>' }, { completion: 'no answer' }],
  },
})
if (!posted || !('status' in posted)) throw new Error(error?.detail ?? 'no group')
const rewards = (posted.verdicts ?? []).map((verdict) => (verdict.status === 'scored' ? verdict.reward : verdict.code))
if (rewards.length !== 2) throw new Error(`verdicts: ${JSON.stringify(posted)}`)

const missing = await getRun({ path: { run: 'no-such-run' } })
if (missing.error?.code !== 'unknown_run') throw new Error(`code: ${JSON.stringify(missing.error)}`)
console.log(JSON.stringify({ item: item.id, rewards, code: missing.error.code }))
