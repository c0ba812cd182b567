/** Two nodes whose samples become groups, and what tests of open groups do with them. */

import type { SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import { expect } from 'vitest'
import type { SampleResult } from '../../../src/features/adapters/samples.ts'
import type { ResolvedRun } from '../../../src/features/runs/types.ts'
import { openWorld, until, type World } from '../../world.ts'

/** Two nodes of one fleet. Neither has a worker: closed groups stay queued, to be looked at. */
export let node: World
export let other: World
export let item: string
export let secondItem: string

export async function openNodes(): Promise<void> {
  node = await openWorld()
  other = await openWorld({ prefix: node.prefix })
  const makeItem = async (seed: number): Promise<string> =>
    (await node.call('POST', '/items', { task: 'leg_counting', seed })).body.items[0].id
  item = await makeItem(1)
  secondItem = await makeItem(2)
}

export async function closeNodes(): Promise<void> {
  await other.close()
  await node.close()
}

export const begin = async (run: string, settings: SettingsChange): Promise<ResolvedRun> => {
  expect(
    (
      await node.call('PUT', `/runs/${run}`, {
        tasks: ['leg_counting', 'chain_sum'],
        length_penalty: false,
        ...settings,
      })
    ).status,
  ).toBe(201)
  return node.features.runs.runs.require(run)
}

interface Sent {
  at?: World
  itemId?: string
  key?: string
  /** What becomes of the answer. `unknown`: its process is killed before it knows. */
  answer?: 'delivered' | 'lost' | 'unknown' | Promise<boolean>
}
export const send = async (
  run: string,
  completion: string,
  { at = node, itemId = item, key, answer = 'delivered' }: Sent = {},
) => {
  const delivery = Promise.withResolvers<boolean>()
  const [result] = await at.features.adapters.samples
    .score({
      adapter: 'slime',
      run,
      samples: [{ itemId, submission: { kind: 'completion', completion }, rolloutKey: key }],
      unscored: 'null',
      siblingWindowMs: 0,
      retryWindowMs: 0,
      delivery: typeof answer === 'string' ? delivery.promise : answer,
    })
    .finally(() => {
      if (answer === 'delivered' || answer === 'lost') delivery.resolve(answer === 'delivered')
    })
  return result as SampleResult // one for each sample
}

/** What workers do for the fleet; to everything that is pending, at once, even if the clock of Redis was corrected in between. */
export const sweep = (at = other) => at.features.adapters.openGroups.sweep({ abandonedMs: -1000, leftMs: -1000 })

/** The completions of each group that the run has accepted. */
export async function listGroups(run: string): Promise<string[][]> {
  const { groups } = node.features.rollouts
  const { epoch } = await node.features.runs.runs.require(run)
  const ids = await groups.listPendingAcceptedBefore(run, epoch, Number.MAX_SAFE_INTEGER, 1000)
  const texts = await Promise.all(ids.map((group) => groups.getTexts({ run, epoch, group })))
  return texts.map((group) => group?.rollouts.map(({ completion = '' }) => completion).toSorted() ?? [])
}
export const sortGroups = (groups: string[][]) => groups.toSorted((a, b) => String(a).localeCompare(String(b)))
export const groupsBecome = async (run: string, expected: string[][]) => {
  const groups = await until(
    () => listGroups(run),
    (found) => found.flat().length >= expected.flat().length,
    60_000,
  )
  expect(sortGroups(groups)).toEqual(sortGroups(expected))
}
export const countOpen = async (run: string): Promise<number> =>
  (await node.call('GET', `/runs/${run}`)).body.progress.open_groups
