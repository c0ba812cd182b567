import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { scoreGroup } from '../../src/jobs/score-group.ts'
import { pack, unpackAbout } from '../../src/store/payload.ts'

const MB = 2 ** 20
const GROUPS = 6

/** How many of several groups are read at once. */
async function atOnce(textBytes: number, hint?: { text_bytes: number }): Promise<number> {
  let [inHand, most] = [0, 0]
  const groups = {
    find: async () => ({ status: 'queued', wants: true, about: { text_bytes: textBytes, rollouts: [] } }),
    async queued() {
      most = Math.max(most, ++inHand)
      await sleep(20)
      inHand--
      return undefined // no longer there: nothing else is asked of the job
    },
  }
  const job = scoreGroup({ groups } as unknown as Parameters<typeof scoreGroup>[0])
  const places = Array.from({ length: GROUPS }, (_, k) => ({ run: 'r', epoch: 1, group: String(k), ...hint }))
  await Promise.all(places.map((place) => job(place, { last: false })))
  return most
}

it('holds many small groups at once, and of large ones as many as have room', async () => {
  expect(await atOnce(MB)).toBe(GROUPS)
  expect(await atOnce(100 * MB)).toBe(2)
  expect(await atOnce(1000 * MB)).toBe(1)
  expect(await atOnce(MB, { text_bytes: 100 * MB })).toBe(2) // as its job says, where it does
})

it('counts texts as they are unpacked, however well they pack', () => {
  const { about, texts } = pack({ item_id: 'x', rollouts: [{ completion: 'a'.repeat(MB) }] }, true)
  expect(unpackAbout(about).text_bytes).toBeGreaterThan(MB)
  expect(texts.byteLength).toBeLessThan(MB / 100)
})
