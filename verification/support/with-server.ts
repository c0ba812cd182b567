/** A server for a script: the one at `url`, or one of its own that is started as a user would and stopped again. */
import { startChildServer } from '../../src/main/bootstrap/child-server.ts'

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

export { type ChildServer, getFreePort, startChildServer } from '../../src/main/bootstrap/child-server.ts'
