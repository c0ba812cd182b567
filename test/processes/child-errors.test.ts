import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, inject, it } from 'vitest'
import { buildChildEnvironment } from '../../src/platform/installation.ts'

it('a process under npm start sends the reason why it cannot start to its parent and prints nothing', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const child = fork(new URL('../../src/main/api.ts', import.meta.url), {
    env: buildChildEnvironment({ PORT: String(port), REDIS_URL: inject('redisUrl'), API_PROCESSES: '1' }),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let output = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const messages: unknown[] = []
  child.on('message', (message) => void messages.push(message))
  const [code] = (await once(child, 'exit')) as [number]
  other.close()
  const message = `Port ${port} is taken: stop what listens there, or set PORT to another`
  expect([code, messages, output]).toEqual([1, [{ type: 'startup-error', message }], ''])
})
