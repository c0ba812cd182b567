/** Selects the requests that may upgrade to a WebSocket. Others are ignored, because some clients always offer h2c. */
import type { IncomingMessage } from 'node:http'

const WEBSOCKET_PATH = /^\/openenv(?:\/[^/?]+)?\/ws\/?(?:\?|$)/

/** Options of the HTTP server. */
export const UPGRADE_OPTIONS = {
  shouldUpgradeCallback: ({ method, url = '', headers }: IncomingMessage) =>
    method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && WEBSOCKET_PATH.test(url),
}
