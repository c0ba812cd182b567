/** Data for the walk: runs and evals in the states that a user meets. */
import { setTimeout as sleep } from 'node:timers/promises'
import { startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import { type CallResponse, requireBody } from '../support/http.ts'

const GROUP_SIZE = 4
const EVAL_TIMEOUT_MS = 120_000
const NOBODY_LISTENS = 'http://127.0.0.1:9/v1'

/** Calls the server; throws for a status that is not 2xx. */
export function call(method: string, url: string, body?: object, key?: string): Promise<CallResponse['body']> {
  return requireBody(method, url, { body, key, headers: { prefer: 'wait=30' } })
}

/** A run over every task. The answers are guesses, so most of them are wrong. */
export async function trainOnEveryTask(url: string, run: string, steps: number): Promise<void> {
  await call('PUT', `${url}/runs/${run}`, { tasks: 'all', group_size: GROUP_SIZE, complexity_mode: 'curriculum' })
  const { total } = await call('GET', `${url}/tasks`)
  for (let step = 0; step < steps; step++) {
    const { items } = await call('POST', `${url}/items`, { run, count: total })
    for (const item of items) {
      const rollouts = Array.from({ length: GROUP_SIZE }, (_, k) => ({
        completion: `<think>Let me see.</think> <answer>${['True', '2', '0', item.question.slice(-1)][k]}</answer>`,
        length_tokens: 12 + k,
        policy_version: step,
      }))
      await call('POST', `${url}/rollouts`, { run, item_id: item.id, rollouts })
    }
    await call('POST', `${url}/runs/${run}/batches`, { step, final: true, policy_version: step })
    await call('POST', `${url}/runs/${run}/batches/${step}/ack`, {})
  }
}

/** A run whose trainer names no steps. */
export async function postWithoutSteps(url: string, run: string): Promise<void> {
  await call('PUT', `${url}/runs/${run}`, { tasks: ['gcd', 'leg_counting', 'sudoku'], group_size: GROUP_SIZE })
  const { items } = await call('POST', `${url}/items`, { run, count: 12 })
  for (const item of items) {
    const rollouts = [1, 2, 3, 4].map((k) => ({ completion: `<answer>${k}</answer>` }))
    await call('POST', `${url}/rollouts`, { run, item_id: item.id, rollouts })
  }
}

interface Evals {
  done: string[]
  failed: string
  running: string
  duel: string
  close(): Promise<void>
}

/** Two evals that are over, one that is under way, one whose model cannot be reached, and a duel. */
export async function makeEvals(url: string, run: string): Promise<Evals> {
  const server = { url }
  const strong = await startMockModel({ server, seed: 1, accuracy: 0.8, accuracyAtHardest: 0.5, formatFaults: 0.05 })
  const weak = await startMockModel({ server, seed: 2, accuracy: 0.5, accuracyAtHardest: 0.2, formatFaults: 0.15 })
  const slow = await startMockModel({ server, seed: 3, accuracy: 0.6, latencyMs: 4000 })
  const suite = { tasks: ['gcd', 'sudoku', 'leg_counting', 'word_sorting', 'spell_backward'], n: 8 }
  const start = async (model: string, base_url: string, more: object = {}): Promise<string> =>
    (await call('POST', `${url}/eval`, { model: { name: model, base_url }, suite, ...more })).id
  const done = [
    await start('qwen-7b-step-10', weak.url, { run, step: 10, labels: { note: 'before' } }),
    await start('qwen-7b-step-40', strong.url, { run, step: 40, labels: { note: 'after' } }),
  ]
  const failed = await start('unreachable', NOBODY_LISTENS)
  for (const id of [...done, failed]) await waitUntilOver(`${url}/eval/${id}`)
  const models = { a: { name: 'strong', base_url: strong.url }, b: { name: 'weak', base_url: weak.url } }
  const duel: string = (await call('POST', `${url}/duels`, { ...models, max_items: 40 })).id
  await waitUntilOver(`${url}/duels/${duel}`)
  const running = await start('slow', slow.url, { suite: 'smoke', concurrency: 1 })
  return {
    done,
    failed,
    running,
    duel,
    async close() {
      for (const model of [strong, weak, slow]) await model.close()
    },
  }
}

async function waitUntilOver(url: string): Promise<void> {
  for (const until = Date.now() + EVAL_TIMEOUT_MS; Date.now() < until; await sleep(300)) {
    const { status } = await call('GET', url)
    if (status !== 'queued' && status !== 'running') return
  }
}
