import { expect, it } from 'vitest'
import { createFrameDecoder, encodeFrame } from '../../src/engine/frames.ts'
import { measureHeap } from '../measure-heap.ts'

const LENGTH = 500_000

it('a frame whose bytes come one by one takes little more memory than its bytes', () => {
  const message = { text: 'x'.repeat(LENGTH) }
  const frame = encodeFrame(message)
  const read: unknown[] = []
  const decode = createFrameDecoder(
    (one) => read.push(one),
    () => read.push('invalid'),
  )
  const before = measureHeap()
  for (const byte of frame.subarray(0, LENGTH)) decode(Buffer.of(byte))
  expect((measureHeap() - before) / LENGTH).toBeLessThan(10) // hundreds with a Buffer for each
  decode(frame.subarray(LENGTH))
  expect(read).toEqual([message])
})

it.each([1022, 1023, 1024, 1025, 2047, 2048, 2049])('a frame may come in %i chunks', (chunks) => {
  const message = { text: 'x'.repeat(8 * chunks - encodeFrame({ text: '' }).length) }
  const read: unknown[] = []
  const decode = createFrameDecoder(
    (one) => read.push(one),
    () => read.push('invalid'),
  )
  const frame = encodeFrame(message)
  for (let start = 0; start < frame.length; start += 8) decode(frame.subarray(start, start + 8))
  expect(read).toEqual([message])
})
