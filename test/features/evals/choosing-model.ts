/** Models whose answers, and the order of them, a test chooses. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from '../../world.ts'

/** A model that gives the choices in turn, the last one for ever. */
export async function startChoosingModel(...choices: object[]): Promise<{ url: string; close(): void }> {
  let asked = 0
  const server = createServer((request, response) => {
    request.resume()
    const choice = choices[Math.min(asked++, choices.length - 1)]
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices: [choice] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return { url, close: () => void server.close() }
}

/** A model that holds its requests. `answer` gives one of them its completion once all others that remain have come. */
export async function startHoldingModel() {
  const held: ServerResponse[] = []
  const server = createServer((request, response) => {
    request.resume()
    held.push(response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () => void server.close(),
    async answer(others: number, content: string) {
      await until(
        async () => held.length,
        (count) => count === others + 1,
      )
      const choices = [{ message: { content }, finish_reason: 'stop' }]
      held.shift()?.setHeader('content-type', 'application/json').end(JSON.stringify({ choices }))
    },
  }
}
