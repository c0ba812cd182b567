/** A training run for the pictures of the docs: a simulated learner that gets better with every step. */
import type { Item } from '../../src/contract/item.ts'
import { getCorrectAnswer } from '../../src/mock-model/answers.ts'
import { hashToUnitInterval } from '../../src/mock-model/seeded-random.ts'
import { getAccuracyAt } from '../simulate/learner.ts'

const TASKS = [
  'chain_sum',
  'leg_counting',
  'spell_backward',
  'number_sorting',
  'caesar_cipher',
  'word_sorting',
  'decimal_arithmetic',
  'bitwise_arithmetic',
]
const GROUPS_PER_STEP = 16
const GROUP_SIZE = 16
const STEEPNESS = 7

/** Requests items, answers them, posts the groups, and takes and acknowledges a batch, step after step. */
export async function trainOnRun(url: string, { run, steps }: { run: string; steps: number }): Promise<void> {
  await call('DELETE', `${url}/runs/${run}`)
  await call('PUT', `${url}/runs/${run}`, {
    preset: 'clean',
    tasks: TASKS,
    group_size: GROUP_SIZE,
    batch_size: (GROUPS_PER_STEP - 4) * GROUP_SIZE,
  })
  for (let step = 0; step < steps; step++) {
    const progress = step / Math.max(1, steps - 1)
    const { items } = (await call('POST', `${url}/items`, { run, count: GROUPS_PER_STEP })) as { items: Item[] } // as declared
    await Promise.all(items.map((item) => postGroup(url, { run, item, step, progress })))
    const batch = await call('POST', `${url}/runs/${run}/batches`, { step, final: true, policy_version: step })
    if (batch !== undefined) await call('POST', `${url}/runs/${run}/batches/${step}/ack`, {})
  }
}

async function postGroup(
  url: string,
  { run, item, step, progress }: { run: string; item: Item; step: number; progress: number },
): Promise<void> {
  const revealed = await call('GET', `${url}/items/${item.id}?reveal=true`)
  const right = getCorrectAnswer(revealed as Parameters<typeof getCorrectAnswer>[0]) // RevealedItem
  if (right === undefined) throw new Error(`${item.task} has no known answer`)
  const accuracy = getAccuracyAt(getSkill(item.task, progress), item.difficulty ?? 0)
  const rollouts = Array.from({ length: GROUP_SIZE }, (_, k) => {
    const draw = (what: string) => hashToUnitInterval(item.id, k, what)
    const answer = draw('accuracy') < accuracy ? right : misspell(right, draw('place'))
    const tokens = Math.round((60 + 240 * progress) * (0.5 + draw('length')) * (1 + (item.difficulty ?? 0)))
    return {
      completion: formatCompletion(answer, draw('format') < 0.25 * (1 - progress) ** 3 + 0.01),
      length_tokens: tokens,
      finish_reason: 'stop',
      policy_version: Math.max(0, step - Math.floor(hashToUnitInterval(item.id, 'lag') * 2)),
    }
  })
  await call('POST', `${url}/rollouts`, { run, item_id: item.id, rollouts })
}

/** Each task begins at a place of its own and is learned at a pace of its own. */
function getSkill(task: string, progress: number): Parameters<typeof getAccuracyAt>[0] {
  const learned = 1 - (1 - progress) ** (1 + hashToUnitInterval(task, 'pace') * 2)
  return { midpoint: 0.05 + 0.3 * hashToUnitInterval(task, 'start') + 0.6 * learned, steepness: STEEPNESS }
}

function formatCompletion(answer: string, isMalformed: boolean): string {
  const thinking = '<think>Let me work through this step by step.</think>'
  return isMalformed ? `${thinking} The result is ${answer}` : `${thinking} <answer>${answer}</answer>`
}

/** A wrong answer that looks like the right one: one letter or digit is another. */
function misspell(text: string, place: number): string {
  const at = Math.min(text.length - 1, Math.floor(place * text.length))
  const wrong = /\d/.test(text[at] ?? '') ? String((Number(text[at]) + 1 + Math.floor(place * 8)) % 10) : 'q'
  return text.slice(0, at) + wrong + text.slice(at + 1)
}

async function call(method: 'GET' | 'PUT' | 'POST' | 'DELETE', url: string, body?: object): Promise<unknown> {
  const headers = { prefer: 'wait=30', ...(body && { 'content-type': 'application/json' }) }
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  if (!response.ok && !(method === 'DELETE' && response.status === 404))
    throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`)
  return response.status === 204 ? undefined : response.json()
}
