/** What the users of a server do in an hour: each actor repeats one activity at a steady pace. */
import { setTimeout as sleep } from 'node:timers/promises'
import { buildExploits } from '@reasoning-gym-server/task-tools/check/hostile-answers'
import { TASK_NAMES } from '../../src/features/tasks/built-in-tasks.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import type { SoakClient } from './soak-client.ts'

export interface Actor {
  name: string
  /** Interval between the starts of two rounds. A round that takes longer is followed by the next one immediately. */
  everyMs: number
  round: (k: number) => Promise<unknown>
}

export const STEADY_RUN = 'steady'
export const STEADY_RUN_SETTINGS = {
  tasks: ['leg_counting', 'chain_sum', 'simple_integration'],
  group_size: 4,
  buffer: false,
  keep_groups: 100,
  min_trained_tokens: 0,
  dump_rollouts: 'all',
}
const TRAINING_SETTINGS = {
  tasks: ['leg_counting', 'chain_sum', 'spell_backward', 'word_sorting', 'codeio', 'simple_integration'],
  complexity_mode: 'curriculum',
  group_size: 4,
  batch_size: 16,
  min_trained_tokens: 0,
  keep_groups: 100,
}
const SHORT_RUN_SETTINGS = {
  tasks: ['leg_counting', 'codeio'],
  group_size: 2,
  batch_size: 2,
  complexity_mode: 'random',
}
const SUITE = { tasks: ['leg_counting', 'gcd', 'codeio'], n: 3 }
const RANKS = 2
const STEPS_OF_A_RUN = 12
const TOKEN_COUNT = 256
const MAX_DUMP_FILES = 5
const POLL_INTERVAL_MS = 500

export function createActors(client: SoakClient, random: SeededRandom, modelUrl: string): Actor[] {
  const exploits = buildExploits('/tmp/rgs-soak-marker', 9)
  let previousEval: string | undefined
  return [
    {
      name: 'trainer',
      everyMs: 2_000,
      round: (k) => trainStep(client, random, `train-${Math.floor(k / STEPS_OF_A_RUN)}`, k % STEPS_OF_A_RUN),
    },
    {
      name: 'short runs',
      everyMs: 4_000,
      async round(k) {
        const run = `short-${k}`
        await client.call('PUT', `/runs/${run}`, { body: SHORT_RUN_SETTINGS })
        for (const group of await buildGroups(client, random, { run, count: 2 }, 2))
          await client.call('POST', '/rollouts', { body: { run, ...group }, kind: 'POST /rollouts, not waited for' })
        const headers = { prefer: 'wait=5' }
        if (k % 2 === 0) await client.call('POST', `/runs/${run}/batches`, { body: { step: 0, final: true }, headers })
        await client.call('DELETE', `/runs/${run}`)
      },
    },
    {
      name: 'steady run',
      everyMs: 1_500,
      async round() {
        const headers = { prefer: 'wait=20' }
        for (const group of await buildGroups(client, random, { run: STEADY_RUN, count: 2 }, 4))
          await client.call('POST', '/rollouts', { body: { run: STEADY_RUN, ...group }, headers })
      },
    },
    { name: 'dumps and exports', everyMs: 10_000, round: () => readFiles(client) },
    {
      name: 'scoring',
      everyMs: 250,
      async round(k) {
        const body = { task: random.pick(TASK_NAMES), seed: random.integerBelow(50) }
        const headers: Record<string, string> = k % 8 === 0 ? { 'idempotency-key': `soak-${k}` } : {}
        const made = await client.call('POST', '/items', { body, headers, kind: 'POST /items by recipe' })
        if (made.status !== 200) return
        const rollouts = ['1', 'yes', '[1, 2]', ''].map((text) => ({
          item_id: made.body.items[0].id,
          completion: `<answer>${text}</answer>`,
        }))
        await client.call('POST', '/score', { body: { rollouts } })
      },
    },
    {
      name: 'hostile answers', // they would hang, fill memory or run, were they read the way the library reads them
      everyMs: 2_500,
      async round() {
        const recipe = { task: random.pick(TASK_NAMES), seed: 7 }
        const { text } = random.pick(exploits)
        const rollouts = [
          { recipe, answer: text },
          { recipe, completion: `<answer>${text}</answer>` },
        ]
        await client.call('POST', '/score', { body: { rollouts }, kind: 'POST /score, hostile' })
      },
    },
    {
      name: 'evals',
      everyMs: 15_000,
      async round(k) {
        const model = { name: 'mock', base_url: modelUrl, api_key: 'of-the-mock-model' }
        const body = { model, suite: SUITE, samples_per_item: 2, concurrency: 4, step: k, labels: ['soak'] }
        const headers = { 'idempotency-key': `soak-eval-${k}` }
        const { body: started } = await client.call('POST', '/eval', { body, headers })
        const path = `/eval/${started.id}`
        if (k % 5 === 4) await client.call('DELETE', path)
        for (const part of ['events', 'samples', 'report']) await client.call('GET', `${path}/${part}`)
        await client.call('GET', '/eval?label=soak&limit=20')
        if (previousEval !== undefined) await client.call('GET', `/eval/compare?a=${previousEval}&b=${started.id}`)
        previousEval = started.id
      },
    },
    { name: 'evals with completions of the caller', everyMs: 20_000, round: (k) => bringCompletions(client, k) },
    {
      name: 'collections',
      everyMs: 15_000,
      async round() {
        const body = { model: { name: 'mock', base_url: modelUrl }, groups: 2, concurrency: 2 }
        const path = `/runs/${STEADY_RUN}/collect`
        const { body: started } = await client.call('POST', path, { body })
        for (let isOver = false; !isOver && !client.signal.aborted; ) {
          await sleep(POLL_INTERVAL_MS)
          const { body: view } = await client.call('GET', `${path}/${started.id}`)
          isOver = !['queued', 'running'].includes(view.status)
        }
      },
    },
  ]
}

/** A step of training on two ranks. After its last step a run is restored under another name, and both are deleted. */
async function trainStep(client: SoakClient, random: SeededRandom, run: string, step: number): Promise<void> {
  if (step === 0) await client.call('PUT', `/runs/${run}`, { body: TRAINING_SETTINGS })
  const asked = { run, count: 8, ...(step % 2 === 0 ? {} : { step }) }
  const groups = (await buildGroups(client, random, asked, 4)).map((group) => ({ ...group, policy_version: step }))
  if (groups.length === 0) return
  await client.call('POST', '/rollouts', { body: { run, groups }, headers: { prefer: 'wait=20' } })
  const path = `/runs/${run}/batches`
  const body = { step, rank: 0, ranks: RANKS, final: true, policy_version: step }
  const batch = await client.call('POST', path, { body, headers: { prefer: 'wait=5' } })
  if (batch.status === 200) {
    await client.call('GET', `${path}/${step}?rank=1&ranks=${RANKS}`)
    for (let rank = 0; rank < RANKS; rank++)
      await client.call('POST', `${path}/${step}/ack`, { body: { rank, ranks: RANKS } })
  }
  await client.call('GET', `/runs/${run}`)
  if (step < STEPS_OF_A_RUN - 1) return
  for (const part of ['metrics', 'history', 'groups']) await client.call('GET', `/runs/${run}/${part}`)
  const { body: checkpoint } = await client.call('GET', `/runs/${run}/checkpoint`)
  const restored = `${run}-restored`
  await client.call('PUT', `/runs/${restored}/checkpoint`, { body: checkpoint })
  await client.call('POST', '/items', { body: { run: restored, count: 4 } })
  for (const name of [run, restored]) await client.call('DELETE', `/runs/${name}`)
}

/** Dump files are read and deleted, so that they do not grow; the rest is what an operator looks at. */
async function readFiles(client: SoakClient): Promise<void> {
  const { body } = await client.call('GET', `/dumps?run=${STEADY_RUN}`)
  const names: string[] = (body?.files ?? []).map(({ name }: { name: string }) => name)
  const newest = names.at(-1)
  if (newest !== undefined) await client.call('GET', `/dumps/${newest}`)
  for (const name of names.slice(0, -MAX_DUMP_FILES)) await client.call('DELETE', `/dumps/${name}`)
  await client.call('GET', `/runs/${STEADY_RUN}/export?format=sft`)
  for (const path of ['/tasks', '/runs', '/readyz', '/metrics', '/openapi.json']) await client.call('GET', path)
}

async function bringCompletions(client: SoakClient, k: number): Promise<void> {
  const { body: started } = await client.call('POST', '/eval', { body: { model: null, suite: SUITE } })
  const path = `/eval/${started.id}`
  const { body } = await client.call('GET', `${path}/items`)
  const all = body.items.map(({ sample_id }: { sample_id: string }) => ({
    sample_id,
    completion: `<answer>${k}</answer>`,
  }))
  const completions = all.slice(0, k % 2 === 0 ? all.length : 4)
  await client.call('POST', `${path}/completions`, { body: { completions } })
  if (k % 2 === 1) await client.call('POST', `${path}/finish`, { body: {} })
  await client.call('GET', path)
}

/** One group of each item that the server gives: right, wrong and unreadable completions, as trainers send them. */
async function buildGroups(client: SoakClient, random: SeededRandom, asked: object, size: number) {
  const { body } = await client.call('POST', '/items', { body: asked })
  return Promise.all(
    (body?.items ?? []).map(async ({ id }: { id: string }) => {
      const { body: item } = await client.call('GET', `/items/${id}?reveal=true`)
      return { item_id: id, rollouts: Array.from({ length: size }, (_, k) => buildRollout(random, item.answer, k)) }
    }),
  )
}

function buildRollout(random: SeededRandom, answer: string, k: number) {
  const thinking = `<think>${'step by step '.repeat(random.integerBelow(40))}</think>`
  const text = random.pick([`<answer>${answer}</answer>`, `<answer>${k}</answer>`, 'I give up'])
  const tokens = Array.from({ length: TOKEN_COUNT }, () => random.integerBelow(150_000))
  const packed = { dtype: 'int32', data: Buffer.from(Int32Array.from(tokens).buffer).toString('base64') }
  return {
    completion: thinking + text,
    tokens: random.chance(0.5) ? packed : tokens,
    masks: tokens.map((token, at) => (at < 16 ? -100 : token)),
    logprobs: tokens.map(() => -random.next()),
    finish_reason: 'stop',
  }
}
