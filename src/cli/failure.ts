/** A failure that the command line tells in one line: what is wrong and what to do. */
export class Failure extends Error {
  /** 1: it did not work; 2: the command was not understood. */
  readonly exitCode: number
  /** The server's code, where it was the server that refused. */
  readonly code: string | undefined
  /** It may be gone in a while: a server that restarts, or says "not now". */
  readonly isPassing: boolean

  constructor(message: string, { exitCode = 1, code, isPassing = false, cause }: Details = {}) {
    super(message, { cause })
    this.exitCode = exitCode
    this.code = code
    this.isPassing = isPassing
  }
}

interface Details {
  exitCode?: number
  code?: string
  isPassing?: boolean
  cause?: unknown
}
