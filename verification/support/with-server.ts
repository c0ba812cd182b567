/** A server for a script: the one at `url`, or one of its own that is started as a user would and stopped again. */
import { type ChildServer, startChildServer as start } from '../../src/main/bootstrap/child-server.ts'
import { findFreePortPairs } from './loopback-redis.ts'

export type { ChildServer }

export async function withScriptServer<T>(
  url: string | undefined,
  use: (url: string) => Promise<T>,
  env: Record<string, string> = {},
): Promise<T> {
  if (url !== undefined) return use(url.replace(/\/$/, ''))
  const server = await startChildServer(env)
  try {
    return await use(server.url)
  } finally {
    await server.stop()
  }
}

/** A port that others who run at the same time do not get. */
export async function getFreePort(): Promise<number> {
  const [port = 0] = await findFreePortPairs(1)
  return port
}

export async function startChildServer(
  env: Record<string, string> = {},
  options: Parameters<typeof start>[1] = {},
): Promise<ChildServer> {
  return start(options.socket ? env : { PORT: String(await getFreePort()), ...env }, options)
}
