/** A refused body whose sender asked for `Connection: close`, as Python's urllib does: it shall meet the answer, not a reset. */
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/**
 * Node closes such a connection with its answer, and who still sends then loses that. So only the side of the answer is
 * closed, and what still comes is thrown away: until the body ends, or as long as a request may take.
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
