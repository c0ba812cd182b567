/** An error that the command line prints as one line: what is wrong and what to do. */
export class CliError extends Error {
  /** 1: the command failed; 2: the command line is invalid. */
  readonly exitCode: number
  /** The server's error code, if the server rejected the request. */
  readonly code: string | undefined
  /** Whether a later retry may succeed, for example because the server restarts or is overloaded. */
  readonly isTransient: boolean

  constructor(message: string, { exitCode = 1, code, isTransient = false, cause }: CliErrorOptions = {}) {
    super(message, { cause })
    this.exitCode = exitCode
    this.code = code
    this.isTransient = isTransient
  }
}

interface CliErrorOptions {
  exitCode?: number
  code?: string
  isTransient?: boolean
  cause?: unknown
}
