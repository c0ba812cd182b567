/** `/openenv[/{run}]/ws`: the WebSocket of OpenEnv's clients. */
import websocket, { type WebSocket } from '@fastify/websocket'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../../http/app.ts'
import type { AdaptersFeature } from '../index.ts'
import { describeOperation, getRun, listMounts } from '../mounts.ts'
import { CLOSE_CODES, OpenEnvSocket } from './socket.ts'
import type { CapacityRejection } from './sockets.ts'

/** Large enough for a completion of a million tokens. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024
/** TCP keepalive detects dead peers. Clients that train between messages do not answer pings but are alive. */
const KEEP_ALIVE_AFTER_MS = 60_000

/** Runs in a scope of its own, because the plugin's hooks add cost to every route of their scope. */
export function addWebSocketRoutes(app: App, adapters: AdaptersFeature): void {
  void app.register(async (scope: App) => {
    const { sockets } = adapters.openenv
    await scope.register(websocket, {
      options: { maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false, clientTracking: false },
      preClose: () => sockets.close(),
      errorHandler: (error, socket, request) => {
        request.log.debug({ err: error }, 'an OpenEnv client broke the protocol, or its connection')
        socket.terminate()
      },
    })
    // The plugin closes the connection of a rejected upgrade, unless the rejection came before the plugin's own hook.
    scope.addHook('onResponse', ({ raw, ws }, _reply, done) => {
      if (!ws && raw.headers.upgrade !== undefined) raw.socket.destroySoon()
      done()
    })
    addSocketRoutes(scope, adapters)
  })
}

function addSocketRoutes(scope: App, adapters: AdaptersFeature): void {
  for (const mount of listMounts('openenv')) {
    scope.route({
      method: 'GET',
      url: `${mount.base}/ws`,
      schema: {
        ...describeOperation(mount, 'connectOpenenvClient', 'Connect an OpenEnv client over WebSocket'),
        description:
          'The client sends the frames `reset`, `step`, `state` and `close`; the server answers in order with `observation`, `state` or `error`. One item and one completion make an episode.',
        response: { 101: z.null().describe('The connection is a WebSocket from here on.') },
      },
      wsHandler: (socket, request) => serveSocket(socket, request, getRun(request.params as object), adapters),
      handler: () => {
        throw new ServiceError('invalid_request', 'This URL is a WebSocket. Send the header `Upgrade: websocket`.')
      },
    })
  }
}

function serveSocket(socket: WebSocket, request: FastifyRequest, run: string | undefined, adapters: AdaptersFeature) {
  const { caller, server, log } = request
  const { environment, sockets, replication } = adapters.openenv
  const connection = request.raw.socket
  connection.setKeepAlive(true, KEEP_ALIVE_AFTER_MS)
  const consumeRate = (bytes: number) => server.rateLimiter?.consume(caller, { requests: 1, bytes })
  const served = new OpenEnvSocket(
    socket,
    connection,
    { caller, run },
    {
      environment,
      replication,
      log,
      consumeRate,
    },
  )
  const rejection = sockets.add(served)
  if (rejection) return rejectSocket(socket, rejection)
  socket.once('close', () => sockets.delete(served))
  request.onKeyRevoked = () => served.close(CLOSE_CODES.policyViolation, 'The API key was removed or changed')
}

/** OpenEnv's client reads this frame and shows its message. */
function rejectSocket(socket: WebSocket, { message, max }: CapacityRejection): void {
  socket.send(JSON.stringify({ type: 'error', data: { message, code: 'CAPACITY_REACHED', max_sessions: max } }))
  socket.close(CLOSE_CODES.tryAgainLater, 'capacity reached')
}
