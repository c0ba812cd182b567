import { EventEmitter } from 'node:events'
import type { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Completions } from '../../src/store/completions.ts'
import { noticeOf } from '../../src/store/groups.ts'

/** As much of a subscribed connection as there is to it. */
class Subscribed extends EventEmitter {
  subscribe = async () => 1
  disconnect = () => {}
}

const PLACE = { run: 'r', epoch: 1, group: 'g' }
/** Longer than the test may take: whoever waits so long was not told. */
const LATE_MS = 60_000

let connection: Subscribed
let completions: Completions
beforeEach(() => {
  connection = new Subscribed()
  completions = new Completions(connection as unknown as Redis, 'completions')
})
afterEach(() => completions.close())

it('who is cancelled again does not take the news from who waits since', async () => {
  const first = completions.expect(PLACE, LATE_MS)
  connection.emit('message', 'completions', noticeOf(PLACE))
  await first.promise
  const second = completions.expect(PLACE, LATE_MS)
  first.cancel()
  connection.emit('message', 'completions', noticeOf(PLACE))
  await expect(second.promise).resolves.toBeUndefined()
})
