/** Which requests may leave HTTP for a WebSocket. All others are served as if they had not asked: some clients always offer h2c. */
import type { IncomingMessage } from 'node:http'

const WEBSOCKET_PATH = /^\/openenv(?:\/[^/?]+)?\/ws\/?(?:\?|$)/

/** Options of the HTTP server. */
export const UPGRADE_OPTIONS = {
  shouldUpgradeCallback: ({ method, url = '', headers }: IncomingMessage) =>
    method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && WEBSOCKET_PATH.test(url),
}
