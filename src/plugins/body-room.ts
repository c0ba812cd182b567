/**
 * How much of large bodies a process holds at once. Who comes over it waits with the body unread, so that many large posts
 * take turns instead of memory. A route gives the room back once it has no more use for the body.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ByteRoom } from '../byte-room.ts'
import { Fault } from '../faults.ts'
import { encodingOf } from './compressed-bodies.ts'

/** Smaller bodies do not count. */
const LARGE_BYTES = 256 * 1024
const ROOM_BYTES = 24 * 1024 * 1024
const WAIT_MS = 20_000
const WAITING_MAX = 1000
/** What a packed body may come to. */
const UNPACKED = 4

declare module 'fastify' {
  interface FastifyRequest {
    /** The body is used and may be forgotten: the next large one can be read. */
    forgetBody(): void
    bodyRoom: number
  }
}

export function addBodyRoom(app: FastifyInstance): void {
  const room = new ByteRoom(ROOM_BYTES)
  const release = (request: FastifyRequest) => {
    room.leave(request.bodyRoom)
    request.bodyRoom = 0
  }

  app.decorateRequest('bodyRoom', 0)
  app.decorateRequest('forgetBody', function forgetBody(this: FastifyRequest) {
    this.body = undefined
    release(this)
  })
  app.addHook('preParsing', (request, reply, payload, done) => {
    const bytes = bytesOf(request)
    if (bytes <= LARGE_BYTES) return done(null, payload)
    if (room.waiting >= WAITING_MAX) return done(tooMany())
    const refuse = (fault: Fault) => {
      clearTimeout(timer)
      if (place.cancel()) done(fault)
    }
    const gone = () => refuse(new Fault('invalid_request', 'The body broke off'))
    const timer = setTimeout(() => refuse(tooMany()), WAIT_MS)
    payload.once('close', gone)
    const place = room.ask(bytes, () => {
      clearTimeout(timer)
      payload.off('close', gone)
      request.bodyRoom = bytes
      reply.raw.once('close', () => release(request)) // answered, or the client is gone
      done(null, payload)
    })
  })
}

/** At most all the room there is: then the body is read alone. Who does not say how long it is counts as large. */
function bytesOf(request: FastifyRequest): number {
  const { headers } = request
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return 0
  const said = Number(headers['content-length'] ?? ROOM_BYTES)
  const unpacked = encodingOf(request) === undefined ? said : said * UNPACKED
  return unpacked <= LARGE_BYTES ? unpacked : Math.min(unpacked, request.routeOptions.bodyLimit ?? 0, ROOM_BYTES)
}

function tooMany(): Fault {
  return new Fault('rate_limited', 'Too many large bodies are being read at once; send this one again', {
    retryAfter: 2,
  })
}
