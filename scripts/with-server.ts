/** A server for a script: the one at `url`, or one of its own that is started as a user would and stopped again. */
import { startServer } from '../src/prepare/own-server.ts'

export async function withServer<T>(
  url: string | undefined,
  use: (url: string) => Promise<T>,
  env: Record<string, string> = {},
): Promise<T> {
  if (url !== undefined) return use(url.replace(/\/$/, ''))
  const server = await startServer(env)
  try {
    return await use(server.url)
  } finally {
    await server.stop()
  }
}

export { freePort, type RunningServer, startServer } from '../src/prepare/own-server.ts'
