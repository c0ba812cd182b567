/** A model that gives the choices in turn, the last one for ever. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

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
