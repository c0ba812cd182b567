/** The documented synchronous loop under kills; `npm run verify -- rank-kills` does the same for 40 steps. */
import { expect, it } from 'vitest'
import { rankKills } from '../../verification/storms.ts'

it('ranks that are killed and start again count each item once, and share the same batches', {
  timeout: 300_000,
}, async () => {
  const { violations, entries, events } = await rankKills({ steps: 8, items: 6, kills: 10, seed: 3 })
  expect(violations).toEqual([])
  expect(new Map(entries).get('groups')).toBe(48)
  expect(events).toBeGreaterThanOrEqual(5) // the last may come after the last step
})
