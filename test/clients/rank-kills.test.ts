/** The documented synchronous loop under kills; `npm run verify -- rank-kills` does the same for 40 steps. */
import { expect, it } from 'vitest'
import { rankKills } from '../../verification/storms.ts'
import { openWorld } from '../world.ts'

it('ranks that are killed and start again count each item once, and share the same batches', {
  timeout: 300_000,
}, async () => {
  const world = await openWorld({ worker: true })
  const url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  const stop = () => world.close().then(() => [])
  const fleet = { urls: [url], waitUntilAllReady: () => Promise.resolve(), stop }
  const { violations, entries, events } = await rankKills({ fleet, steps: 8, items: 6, kills: 10, seed: 3 })
  expect(violations).toEqual([])
  expect(new Map(entries).get('groups')).toBe(48)
  expect(events).toBeGreaterThanOrEqual(5) // the last may come after the last step
})
