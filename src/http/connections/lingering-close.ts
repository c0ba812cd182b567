/**
 * Lets a client that sends a body with `Connection: close`, as Python's urllib does, read why its body was rejected.
 *
 * Symptom: Node closes the socket with the response, and a client that is still sending gets a connection reset instead.
 * Gain: correctness, no speed: the client reads a 413 or 415 instead of an ECONNRESET.
 * Measure: npx vitest run test/http/connections/graceful-close.test.ts test/clients; npm run bench -- --without lingering-close
 * Delete when: http.Server drains a request body before it closes a connection (no such option in Node 24).
 */
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/**
 * Node closes such a connection with its response, and a client that is still sending loses the response. So only the
 * outgoing side is closed, and incoming bytes are discarded until the body ends or the request times out.
 */
export function enableLingeringClose(request: IncomingMessage): void {
  const { socket } = request
  if (request.complete || !(socket instanceof Socket)) return
  const destroySoon = socket.destroySoon.bind(socket)
  socket.destroySoon = () => {
    socket.destroySoon = destroySoon
    if (request.complete) return socket.destroySoon()
    socket.end()
    request.once('end', () => socket.destroySoon()).resume()
  }
}
