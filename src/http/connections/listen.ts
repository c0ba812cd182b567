/** Listens on the port, which several API processes of one machine share. */
import type { App } from '../app.ts'

/**
 * Length of the kernel's accept queue, capped by `net.core.somaxconn`. The default of 511 is too short for a thousand clients
 * that connect at once: the kernel then drops handshakes, and those clients retry after one, two, four seconds.
 */
const LISTEN_BACKLOG = 65_535

/** Only Linux distributes the connections of a port over several processes. */
const SUPPORTS_REUSE_PORT = process.platform === 'linux'

export async function listen(app: App, address: { host: string; port: number }): Promise<void> {
  await app.listen({ ...address, backlog: LISTEN_BACKLOG, ...(SUPPORTS_REUSE_PORT && { reusePort: true }) })
}
