/**
 * Scores the groups of a run over all tasks again. Under equal rules no verdict may differ; then measures how long another
 * rescore takes, and what `POST /score` waits for beside it, as a multiple of what it waits for alone.
 */
import { parseArgs } from 'node:util'
import type { Rescore, RescoreResult } from '@reasoning-gym-server/contract/rescore'
import pMap from 'p-map'
import { requireBody } from './support/http.ts'
import { SeededRandom } from './support/seeded-random.ts'
import { waitUntil } from './support/wait.ts'
import { withScriptServer } from './support/with-server.ts'

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    groups: { type: 'string', default: '10000' },
    rollouts: { type: 'string', default: '16' },
    seed: { type: 'string', default: '1' },
  },
})
const GROUPS = Number(values.groups)
const ROLLOUTS = Number(values.rollouts)
const MAX_SECONDS = (60 * GROUPS) / 10_000
const MAX_RATIO = 2
const RUN = 'rescore'
const POSTS_IN_FLIGHT = 8
const SCORES = 400

const random = new SeededRandom(Number(values.seed))

interface AnsweredItem {
  id: string
  answer: string
}

const isOk = await withScriptServer(values.url, async (url) => {
  await requireBody('PUT', `${url}/runs/${RUN}`, {
    body: { buffer: false, keep_groups: 1_000_000, advantage: 'mean_std' },
  })
  const items = await makeItems(url)
  console.log(`posting ${GROUPS} groups of ${ROLLOUTS} on ${items.length} items`)
  const numbers = Array.from({ length: GROUPS }, (_, k) => k)
  await pMap(numbers, (k) => postGroup(url, k, items), { concurrency: POSTS_IN_FLIGHT })
  const isScored = async () => (await requireBody('GET', `${url}/runs/${RUN}`)).progress.queued_groups === 0
  await waitUntil('all groups are scored', isScored, { timeoutMs: 3_600_000, pollMs: 500 })

  const equal = await rescore(url, {})
  const { rewards_changed, groups_gaining_signal, groups_losing_signal, advantages_flipped } = equal.result
  const different = rewards_changed + groups_gaining_signal + groups_losing_signal + advantages_flipped
  console.log(
    `${different === 0 ? 'ok  ' : 'FAIL'} equal rules: ${different} differences in ${equal.result.rollouts} rollouts of ${equal.result.groups} groups (${equal.result.left_out} left out), ${equal.seconds.toFixed(1)} s`,
  )
  const alone = await timeScores(url, items)
  let beside: number[] = []
  const [hardened] = await Promise.all([
    rescore(url, { scoring: 'hardened', extraction: 'last_tag' }),
    timeScores(url, items).then((times) => {
      beside = times
    }),
  ])
  const isInTime = hardened.seconds <= MAX_SECONDS
  console.log(
    `${isInTime ? 'ok  ' : 'FAIL'} other rules: ${hardened.result.rewards_changed} rewards differ, ${hardened.seconds.toFixed(1)} s (at most ${MAX_SECONDS} s)`,
  )
  const ratio = p99(beside) / p99(alone)
  console.log(
    `${ratio <= MAX_RATIO ? 'ok  ' : 'FAIL'} p99 of POST /score: ${p99(beside).toFixed(1)} ms beside a rescore, ${p99(alone).toFixed(1)} ms alone`,
  )
  return different === 0 && isInTime && ratio <= MAX_RATIO
})
if (!isOk) process.exitCode = 1

/** Two of each task. A task whose items take longer than a request is left out. */
async function makeItems(url: string): Promise<AnsweredItem[]> {
  const { tasks } = await requireBody('GET', `${url}/tasks`)
  const made = await pMap(
    tasks as { name: string }[],
    async ({ name }): Promise<AnsweredItem[]> => {
      const body = { task: name, seed: random.integerBelow(2 ** 28), count: 2 }
      const { items } = await requireBody('POST', `${url}/items`, { body, headers: { prefer: 'wait=60' } })
      return Promise.all(
        items.map(async ({ id }: { id: string }) => {
          const { answer } = await requireBody('GET', `${url}/items/${encodeURIComponent(id)}?reveal=true`)
          return { id, answer: String(answer) }
        }),
      )
    },
    { concurrency: 4 },
  )
  return made.flat()
}

async function postGroup(url: string, k: number, items: AnsweredItem[]): Promise<void> {
  const item = items[k % items.length]
  if (!item) return
  const rollouts = Array.from({ length: ROLLOUTS }, () => ({
    completion: writeCompletion(item.answer, random.pick(items).answer),
    length_tokens: 10_000 + random.integerBelow(8000),
    finish_reason: random.chance(0.05) ? 'length' : 'stop',
  }))
  const body = { run: RUN, group_id: `g${k}`, item_id: item.id, rollouts }
  await requireBody('POST', `${url}/rollouts`, { body })
}

/** Right, nearly right, wrong, or with a format fault. */
function writeCompletion(right: string, other: string): string {
  const at = random.integerBelow(right.length + 1)
  const nearly = `${right.slice(0, at)}${random.integerBelow(10)}${right.slice(at + random.integerBelow(2))}`
  const answer = random.pick([right, right, nearly, nearly, other.slice(0, 200)])
  const thought = `<think>${'because '.repeat(random.integerBelow(200))}</think>\n`
  const form = random.integerBelow(12)
  if (form === 0) return `${thought}${answer}`
  if (form === 1) return `${thought}<answer>1</answer> or <answer>${answer}</answer>`
  if (form === 2) return `${thought}\\boxed{${answer}}`
  return `${thought}<answer>${answer}</answer>`
}

async function rescore(url: string, settings: object): Promise<{ seconds: number; result: RescoreResult }> {
  const startedAt = performance.now()
  const { id } = await requireBody('POST', `${url}/runs/${RUN}/rescore`, { body: { settings } })
  let found: Rescore | undefined
  const isDone = async () => {
    found = (await requireBody('GET', `${url}/runs/${RUN}/rescore/${id}`)) as Rescore
    if (found.status === 'failed') throw new Error(found.detail ?? 'failed')
    return found.result !== null
  }
  await waitUntil('the rescore is done', isDone, { timeoutMs: 3_600_000, pollMs: 200 })
  if (!found?.result) throw new Error('The rescore has no result')
  return { seconds: (performance.now() - startedAt) / 1000, result: found.result }
}

/** The times of calls with 16 completions, one after another, in milliseconds. */
async function timeScores(url: string, items: AnsweredItem[]): Promise<number[]> {
  const times: number[] = []
  for (let k = 0; k < SCORES; k++) {
    const { id, answer } = random.pick(items)
    const rollouts = Array.from({ length: 16 }, () => ({ item_id: id, completion: writeCompletion(answer, answer) }))
    const sentAt = performance.now()
    await requireBody('POST', `${url}/score`, { body: { rollouts } })
    times.push(performance.now() - sentAt)
  }
  return times
}

function p99(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN
}
