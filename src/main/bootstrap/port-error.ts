/** Says in one sentence why the server cannot listen. */
import { StartupError } from './startup-error.ts'

export function createListenError({ host, port }: { host: string; port: number }, cause: unknown): StartupError {
  const { code, message } = cause as NodeJS.ErrnoException // as listen() reports it
  return new StartupError(
    code === 'EADDRINUSE'
      ? `Port ${port} is taken: stop what listens there, or set PORT to another`
      : `Cannot listen on ${host}:${port}: ${message}`,
    { cause },
  )
}
