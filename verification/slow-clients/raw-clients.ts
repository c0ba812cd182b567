/** Clients on raw sockets that send or read less than they should. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface RawClient {
  socket: Socket
  /** Of the reply, if any of it was read. */
  status(): number | undefined
  closed: Promise<unknown>
}

export async function openClient(port: number): Promise<RawClient> {
  const socket = connect(port, '127.0.0.1')
  let head = ''
  socket.on('error', () => {}) // many of them are dropped
  const closed = new Promise((resolve) => socket.once('close', resolve)) // once() would reject when the server drops the client
  await once(socket, 'connect')
  socket.on('data', (bytes: Buffer) => {
    if (head.length < 12) head += bytes.toString('latin1', 0, 12)
  })
  const status = () => (head === '' ? undefined : Number(head.slice(9, 12)))
  return { socket, status, closed }
}

/** Asks, and reads nothing. */
export async function openSilentReader(port: number, path: string): Promise<RawClient> {
  const client = await openClient(port)
  client.socket.pause()
  client.socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  return client
}

/** Announces a body, and sends the beginning of it. */
export async function openHalfSender(port: number, path: string, announced: number, sent: number): Promise<RawClient> {
  const client = await openClient(port)
  const head = [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json']
  client.socket.write(`${[...head, `Content-Length: ${announced}`].join('\r\n')}\r\n\r\n`)
  client.socket.write(`{"item_id": "${'x'.repeat(sent)}`)
  return client
}

export function countStatuses(clients: RawClient[]): string {
  const counts = new Map<number | string, number>()
  for (const client of clients) {
    const status = client.status() ?? 'none'
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  return [...counts].map(([status, count]) => `${count} × ${status}`).join(', ')
}
