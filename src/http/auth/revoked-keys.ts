/**
 * Ends what an API key has open once the key file no longer has the key, or gives it another role or other runs: a call in
 * flight gets 401 in place of its answer, and a response that is being sent breaks off.
 */
import { Readable } from 'node:stream'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { KeyRing } from './key-ring.ts'

export const revokedKeys = fastifyPlugin<{ keyRing: KeyRing | undefined }>(
  async (app, { keyRing }) => {
    if (!keyRing) return
    const isRevoked = ({ caller }: FastifyRequest) => caller !== null && !keyRing.isCurrent(caller) // null before it is read
    const open = new Set<FastifyReply>()
    app.addHook('onRequest', (_request, reply, done) => {
      open.add(reply)
      reply.raw.once('close', () => open.delete(reply))
      done()
    })
    app.addHook('preHandler', (request, _reply, done) => {
      done(isRevoked(request) ? createRevokedError() : undefined) // while the body arrived
    })
    app.addHook('onSend', (request, reply, payload, done) => {
      if (reply.statusCode >= 400 || !isRevoked(request)) return done(null, payload)
      if (payload instanceof Readable) payload.destroy()
      done(createRevokedError())
    })
    const stopListening = keyRing.onChange(() => {
      for (const reply of open) if (isRevoked(reply.request)) end(reply)
    })
    app.addHook('onClose', async () => stopListening())
  },
  { name: 'revoked-keys' },
)

/** A call whose response has not begun gets its 401 when it would be answered. */
function end({ raw }: FastifyReply): void {
  if (raw.headersSent) raw.destroy() // a proper end would make the part that was sent look complete
}

function createRevokedError(): ServiceError {
  return new ServiceError('unauthorized', 'This API key was removed or changed during the call. Ask for a new one.')
}
