/** Trainers that send another number of samples for an item than `group_size`: their passes over the data, and warnings. */
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, until, type World } from '../../world.ts'

let node: World
let items: string[]
beforeAll(async () => {
  node = await openWorld()
  const made = await node.call('POST', '/items', { task: 'leg_counting', seed: 3, count: 8 }, { prefer: 'wait=60' })
  items = made.body.items.map(({ id }: { id: string }) => id)
})
afterAll(() => node.close())

const begin = (run: string, settings: SettingsChange) => node.call('PUT', `/runs/${run}`, settings)
const send = async (run: string, response: string, label: string | undefined) =>
  expect((await node.call('POST', `/slime/${run}/rm`, { response, label })).status).toBe(200)
const readWarnings = async (run: string) => (await node.call('GET', `/runs/${run}`)).body.warnings

/** Waits until the run has so many groups, and returns the completions of each. */
async function listGroups(run: string, count: number): Promise<string[][]> {
  const { groups } = node.features.rollouts
  const { epoch } = await node.features.runs.runs.require(run)
  const ids = await until(
    () => groups.listPendingAcceptedBefore(run, epoch, Number.MAX_SAFE_INTEGER, 1000),
    (found) => found.length >= count,
    10_000,
  )
  const texts = await Promise.all(ids.map((group) => groups.getTexts({ run, epoch, group })))
  return texts
    .map((group) => group?.rollouts.map(({ completion = '' }) => completion).toSorted() ?? [])
    .toSorted((a, b) => String(a).localeCompare(String(b)))
}
/** One group for each item and pass. */
const listPasses = (passes: number, size: number) =>
  Array.from({ length: passes }, (_, pass) =>
    items.map((_, k) => Array.from({ length: size }, (_, n) => `pass ${pass} item ${k} sample ${n}`)),
  ).flat()

it('gets groups of one pass over the data each, and a warning with both numbers', async () => {
  await begin('six', { group_size: 8 })
  for (let pass = 0; pass < 3; pass++)
    for (const [k, itemId] of items.entries())
      for (let n = 0; n < 6; n++) await send('six', `pass ${pass} item ${k} sample ${n}`, itemId)
  expect(await listGroups('six', 24)).toEqual(listPasses(3, 6))
  const why = expect.stringContaining('The trainer sends 6 samples per item, `group_size` is 8')
  expect(await readWarnings('six')).toEqual([{ kind: 'group_size', task: null, why }])
  await node.call('PUT', '/runs/six', { group_size: 6 })
  expect(await readWarnings('six')).toEqual([])
})

it('keeps a sample with its group that takes long to score', async () => {
  await begin('late', { group_size: 8 })
  const late = items.map(async (itemId, k) => {
    const delivery = Promise.withResolvers<boolean>()
    const call = node.features.adapters.openGroups.assembler.start(delivery.promise)
    return { itemId, name: `pass 0 item ${k} sample 7`, call, delivery }
  })
  for (const [k, itemId] of items.entries())
    for (let n = 0; n < 7; n++) await send('late', `pass 0 item ${k} sample ${n}`, itemId)
  await new Promise((resolve) => setTimeout(resolve, 50))
  const run = await node.features.runs.runs.require('late')
  for (const { itemId, name, call, delivery } of await Promise.all(late)) {
    const recipe = decodeItemId(itemId)
    const verdict = { status: 'unscored', reward: null, score: null, code: 'scorer_timeout', detail: '' } as const
    await call.record(run, [{ itemId, submission: { kind: 'completion', completion: name }, recipe, verdict }])
    delivery.resolve(true)
  }
  expect(await listGroups('late', 8)).toEqual(listPasses(1, 8))
  expect(await readWarnings('late')).toEqual([])
})

it('may say so in the reward URL', async () => {
  await begin('said', { group_size: 8 })
  for (let pass = 0; pass < 2; pass++)
    for (const label of items.slice(0, 2))
      for (let n = 0; n < 3; n++)
        await node.call('POST', '/slime/said/rm?n=3', { response: `${pass} ${label.slice(-9)} ${n}`, label })
  const groups = await listGroups('said', 4)
  for (const group of groups) expect(new Set(group.map((name) => name.slice(0, -1))).size).toBe(1)
  expect(await readWarnings('said')).toEqual([])
})

it('is warned of groups that are closed incomplete', async () => {
  await begin('timed-out', { group_size: 8, open_group_timeout_s: 1 })
  for (const itemId of items.slice(0, 4)) for (const name of ['a', 'b']) await send('timed-out', name, itemId)
  await until(
    async () => {
      await node.features.adapters.openGroups.sweep()
      return readWarnings('timed-out')
    },
    (warnings) => warnings.length > 0,
  )
  const why = 'The trainer sends 2 samples per item, `group_size` is 8: 4 of the last 4 groups were closed incomplete.'
  expect(await readWarnings('timed-out')).toEqual([{ kind: 'group_size', task: null, why }])
})

it('is not suspected while samples come in rounds over all items, with pauses', async () => {
  await begin('rounds', { group_size: 8 })
  for (let n = 0; n < 8; n++)
    for (const [k, itemId] of items.entries()) await send('rounds', `pass 0 item ${k} sample ${n}`, itemId)
  expect(await listGroups('rounds', 8)).toEqual(listPasses(1, 8))
  expect(await readWarnings('rounds')).toEqual([])
})
