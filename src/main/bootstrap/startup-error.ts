/** The errors that end a start. */

/** The server cannot start. The message is one line that says what to do. */
export class StartupError extends Error {}

/** Says in one sentence why the server cannot listen. */
export function createListenError({ host, port }: { host: string; port: number }, cause: unknown): StartupError {
  const { code, message } = cause as NodeJS.ErrnoException // as listen() reports it
  return new StartupError(
    code === 'EADDRINUSE'
      ? `Port ${port} is taken: stop what listens there, or set PORT to another`
      : `Cannot listen on ${host}:${port}: ${message}`,
    { cause },
  )
}
