/** A failure that the command line tells in one line: what is wrong and what to do. */
export class CliError extends Error {
  /** 1: it did not work; 2: the command was not understood. */
  readonly exitCode: number
  /** The server's code, where it was the server that refused. */
  readonly code: string | undefined
  /** It may be gone in a while: a server that restarts, or says "not now". */
  readonly isTransient: boolean

  constructor(message: string, { exitCode = 1, code, isTransient: isPassing = false, cause }: CliErrorOptions = {}) {
    super(message, { cause })
    this.exitCode = exitCode
    this.code = code
    this.isTransient = isPassing
  }
}

interface CliErrorOptions {
  exitCode?: number
  code?: string
  isTransient?: boolean
  cause?: unknown
}
