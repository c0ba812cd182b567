import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { buildBatchReply } from '../../../../src/features/adapters/atropos/routes.ts'

it.each([0, 1])('lets go of what a batch holds when the client leaves after %i slices', async (slices) => {
  const released = Promise.withResolvers<string>()
  async function* makeChunks() {
    try {
      for (;;) yield Buffer.alloc(1024)
    } finally {
      released.resolve('released')
    }
  }
  const reply = await buildBatchReply(async () => ({ chunks: makeChunks(), begin: () => {}, giveBack: async () => {} }))
  if (!(reply instanceof Readable)) throw new Error('the batch is no stream')
  const reader = reply[Symbol.asyncIterator]()
  for (let k = 0; k < slices; k++) await reader.next()
  reply.destroy()
  expect(await released.promise).toBe('released')
})
