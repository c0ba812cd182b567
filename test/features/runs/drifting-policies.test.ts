/** Scripted policies that learn to be paid without solving anything: the warning comes before their reward has doubled. */

import type { Item } from '@reasoning-gym-server/contract/item'
import type { Group } from '@reasoning-gym-server/contract/rollout'
import type { Run, RunWarning } from '@reasoning-gym-server/contract/run'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { hashToUnitInterval } from '@reasoning-gym-server/mock-model/behavior'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openWorld, type World } from '../../world.ts'
import { readMetrics, scrapeText } from '../operations/reading.ts'

const STEPS = 20
const GROUPS = 10
const GROUP_SIZE = 6

let world: World
beforeAll(async () => {
  world = await openWorld()
})
beforeEach(() => world.startWorker()) // a new one has not spent its time for controls
afterEach(() => world.stopWorkers())
afterAll(() => world.close())

interface Policy {
  /** Share of rollouts that solve their item, and of those that use the hack, by how far training has come. */
  accuracy(progress: number): number
  hackShare(progress: number): number
  hack(question: string): string
}

interface Observation {
  reward: number
  warnings: RunWarning[]
  run: Run
}

/** Right answers to items that are in no run. */
async function listOtherAnswers(task: string): Promise<string[]> {
  const { items } = (await world.call('POST', '/items', { task, seed: 1, count: 40 })).body as { items: Item[] }
  const revealed = await Promise.all(items.map(({ id }) => world.call('GET', `/items/${id}?reveal=true`)))
  return revealed.map(({ body }) => body.answer)
}

/** One observation after each step of ten groups. Wrong answers are right ones to other items. */
async function train(
  run: string,
  settings: Partial<RunSettings> & { tasks: string[] },
  policy: Policy,
): Promise<Observation[]> {
  expect((await world.call('PUT', `/runs/${run}`, settings)).status).toBe(201)
  const observations: Observation[] = []
  const otherAnswers = new Map<string, string[]>()
  for (const task of settings.tasks) otherAnswers.set(task, await listOtherAnswers(task))
  for (let step = 0; step < STEPS; step++) {
    const { items } = (await world.call('POST', '/items', { run, count: GROUPS, step }, { prefer: 'wait=60' }))
      .body as { items: Item[] }
    const progress = step / (STEPS - 1)
    const groups = await Promise.all(
      items.map(async ({ id, task, question }) => {
        const { answer } = (await world.call('GET', `/items/${id}?reveal=true`)).body
        const others = (otherAnswers.get(task) ?? []).filter((other) => other !== answer)
        const luck = hashToUnitInterval(id, 'luck') - 0.5 // some items are easier than others
        const rollouts = Array.from({ length: GROUP_SIZE }, (_, k) => {
          const dice = (about: string) => hashToUnitInterval(id, about, String(k))
          const wrong = others[Math.floor(dice('wrong') * others.length)] ?? 'unknown'
          const honest = dice('right') < policy.accuracy(progress) + 0.2 * luck ? answer : wrong
          const text = dice('hack') < policy.hackShare(progress) ? policy.hack(question) : honest
          return { completion: `<answer>${text}</answer>` }
        })
        return { item_id: id, rollouts }
      }),
    )
    const posted = await world.call('POST', '/rollouts', { run, groups }, { prefer: 'wait=30' })
    const scores = (posted.body.groups as Group[]).map(({ mean_score }) => mean_score ?? 0)
    const view = (await world.call('GET', `/runs/${run}`)).body as Run
    const reward = scores.reduce((sum, score) => sum + score, 0) / scores.length
    observations.push({ reward, warnings: view.warnings, run: view })
  }
  return observations
}

/** The mean of the last five steps, as a plot would show it. */
function smooth(observations: Observation[], step: number): number {
  const last = observations.slice(Math.max(0, step - 4), step + 1)
  return last.reduce((sum, { reward }) => sum + reward, 0) / last.length
}

const BASE = { buffer: false, min_trained_tokens: 0, dual_format: false, length_penalty: false } as const

interface Hack {
  name: string
  kinds: RunWarning['kind'][]
  settings: Pick<RunSettings, 'scoring'> & { tasks: string[] }
  accuracy: number
  hack(question: string): string
}

describe('a policy that drifts into a hack is found out before its reward has doubled', { timeout: 180_000 }, () => {
  it.each<Hack>([
    {
      name: 'a form that only upstream scoring pays',
      kinds: ['hack_gap'],
      settings: { tasks: ['prime_factorization'], scoring: 'upstream' },
      accuracy: 0.15,
      hack: (question: string) => /\d+/.exec(question)?.[0] ?? '',
    },
    {
      name: 'the most common answer',
      kinds: ['collapsed'],
      settings: { tasks: ['gcd'], scoring: 'hardened' },
      accuracy: 0.1,
      hack: () => '1',
    },
    {
      name: 'an answer that scores on any item',
      kinds: ['hack_gap', 'permuted'],
      settings: { tasks: ['complex_arithmetic'], scoring: 'upstream' },
      accuracy: 0.15,
      hack: () => 'nan',
    },
  ])('$name', async ({ name, kinds, settings, accuracy, hack }) => {
    const run = name.replaceAll(' ', '-')
    const observations = await train(
      run,
      { ...BASE, ...settings },
      { accuracy: () => accuracy, hackShare: (progress) => progress, hack },
    )
    const start = smooth(observations, 2)
    expect(smooth(observations, STEPS - 1)).toBeGreaterThan(2 * start)
    const warned = observations.findIndex(({ warnings }) => warnings.length > 0)
    const doubled = observations.findIndex((_, step) => step > 2 && smooth(observations, step) >= 2 * start)
    expect(warned).toBeGreaterThan(0)
    expect(warned).toBeLessThan(doubled)
    expect(kinds).toContain(observations[warned]?.warnings[0]?.kind)
    expect(observations[warned]?.run.state.is).toBe('suspicious')

    expect(observations.at(-1)?.warnings.map(({ kind }) => kind)).toEqual(kinds)
    const { samples } = readMetrics(await scrapeText(world))
    const alerts = samples.filter((sample) => sample.name === 'rgs_run_warning' && sample.labels.run === run)
    expect(alerts.map(({ labels, value }) => [labels.kind, value])).toEqual(kinds.map((kind) => [kind, 1]))
  })
})

describe('a policy that gets better by solving gives no warning', { timeout: 180_000 }, () => {
  it.each(['upstream', 'hardened'] as const)('under %s scoring', async (scoring) => {
    const tasks = ['chain_sum', 'gcd', 'syllogism']
    const observations = await train(
      `honest-${scoring}`,
      { ...BASE, tasks, scoring },
      {
        accuracy: (progress) => 0.15 + 0.75 * progress,
        hackShare: () => 0,
        hack: () => '',
      },
    )
    expect(smooth(observations, STEPS - 1)).toBeGreaterThan(2 * smooth(observations, 2))
    expect(observations.flatMap(({ warnings }) => warnings)).toEqual([])
    const { permuted_answers, hack_gap_answers } = observations.at(-1)?.run.diagnosis ?? {}
    expect([permuted_answers, hack_gap_answers]).toEqual([expect.toSatisfy(isSampled), expect.toSatisfy(isSampled)])
  })
})

const isSampled = (count: number) => count > 20
