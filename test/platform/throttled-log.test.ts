import { expect, it } from 'vitest'
import { throttledLog } from '../../src/platform/throttled-log.ts'
import { until } from '../world.ts'

it('an error that comes over and over is told once in a while, with how many came meanwhile; others at once', async () => {
  const told: [string, number][] = []
  const tell = throttledLog((error, untold) => void told.push([String(error), untold]), 200)
  for (let k = 0; k < 100; k++) tell('away')
  tell('other')
  expect(told).toEqual([
    ['away', 0],
    ['other', 0],
  ])
  await until(
    async () => {
      tell('away')
      return told
    },
    () => told.length === 3,
  )
  expect(told[2]?.[1]).toBeGreaterThanOrEqual(99)
})
