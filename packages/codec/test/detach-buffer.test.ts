import { expect, it } from 'vitest'
import { detachBuffer } from '../src/detach-buffer.ts'

it('memory of its own is given back, and what others share is left alone', () => {
  const own = Float32Array.of(1, 2, 3)
  detachBuffer(own)
  expect(own).toHaveLength(0)
  const whole = Buffer.allocUnsafeSlow(100_000).fill(7)
  const part = whole.subarray(0, 50_000)
  detachBuffer(part)
  expect([part[0], whole.at(-1)]).toEqual([7, 7])
  const [pooled, beside] = [Buffer.from('pooled'), Buffer.from('beside')]
  detachBuffer(pooled)
  expect([pooled.toString(), beside.toString()]).toEqual(['pooled', 'beside'])
})
