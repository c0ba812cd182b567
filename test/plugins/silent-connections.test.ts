import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { openWorld } from '../world.ts'

it('a connection on which nothing was asked does not hold up the close', async () => {
  const world = await openWorld({ ENGINE_HOSTS: 1 })
  const port = Number(new URL(await world.app.listen({ host: '127.0.0.1', port: 0 })).port)
  const accepted = once(world.app.server, 'connection')
  const socket = connect(port, '127.0.0.1')
  await accepted
  const closed = once(socket, 'close')
  await world.close()
  await closed
  expect(socket.destroyed).toBe(true)
})
