import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { openWorld, until } from '../../world.ts'

it('a request that fails after the eval was cancelled is made again once it is resumed', async () => {
  const world = await openWorld({ worker: true })
  const [asked, cancelled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let requests = 0
  const server = createServer(async (_request, response) => {
    const isFirst = ++requests === 1
    asked.resolve()
    await cancelled.promise
    if (isFirst) return response.writeHead(500).end()
    const choice = { message: { role: 'assistant', content: '<answer>0</answer>' }, finish_reason: 'stop' }
    return response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices: [choice] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const eval_ = { model: { name: 'm', base_url }, retries: 0, concurrency: 1, suite: { tasks: ['gcd'], n: 2 } }
  const { body } = await world.call('POST', '/eval', eval_)
  await asked.promise
  await world.call('DELETE', `/eval/${body.id}`)
  cancelled.resolve()
  const isStored = () => world.platform.redis.exists(`{${world.prefix}:generation-job:${body.id}}:outputs`)
  await until(isStored, (stored) => stored === 1)
  await new Promise((resolve) => setTimeout(resolve, 200)) // until it is recorded, which an ended eval does not
  await world.call('POST', `/eval/${body.id}/resume`, {})
  const done = await until(
    async () => (await world.call('GET', `/eval/${body.id}`)).body,
    ({ status }) => status !== 'queued' && status !== 'running',
    60_000,
  )
  expect(done).toMatchObject({ status: 'done', failures: [], result: { scored: 2 } })
  server.close()
  await world.close()
})
