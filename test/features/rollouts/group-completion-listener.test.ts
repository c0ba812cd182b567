import { EventEmitter } from 'node:events'
import type { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { GroupCompletionListener } from '../../../src/features/rollouts/group-completion-listener.ts'
import { formatGroupPath } from '../../../src/features/rollouts/records.ts'

/** As much of a subscribed connection as there is to it. */
class Subscribed extends EventEmitter {
  subscribe = async () => 1
  disconnect = () => {}
}

const PLACE = { run: 'r', epoch: 1, group: 'g' }
/** Longer than the test may take: whoever waits so long was not told. */
const LATE_MS = 60_000

let connection: Subscribed
let completions: GroupCompletionListener
beforeEach(() => {
  connection = new Subscribed()
  completions = new GroupCompletionListener(connection as unknown as Redis, 'completions')
})
afterEach(() => completions.close())

it('who is cancelled again does not take the news from who waits since', async () => {
  const first = completions.waitForGroup(PLACE, LATE_MS)
  connection.emit('message', 'completions', formatGroupPath(PLACE))
  await first.promise
  const second = completions.waitForGroup(PLACE, LATE_MS)
  first.cancel()
  connection.emit('message', 'completions', formatGroupPath(PLACE))
  await expect(second.promise).resolves.toBeUndefined()
})
