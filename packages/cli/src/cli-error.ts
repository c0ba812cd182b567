/** An error that the command line prints as one line: what is wrong and what to do. */
export class CliError extends Error {
  /** 1: the command failed; 2: the command line is invalid. */
  readonly exitCode: number
  /** The server's error code, if the server rejected the request. */
  readonly code: string | undefined
  /** Whether a later retry may succeed, for example because the server restarts or is overloaded. */
  readonly isTransient: boolean
  /** What the server said, for a better message: error-advice.ts. */
  readonly problem: Problem | undefined

  constructor(message: string, { exitCode = 1, isTransient = false, problem, cause }: CliErrorOptions = {}) {
    super(message, { cause })
    this.exitCode = exitCode
    this.code = problem?.code
    this.isTransient = isTransient
    this.problem = problem
  }
}

/** The request that the server rejected, and its reasons. */
export interface Problem {
  code: string
  detail: string
  fields: { path: string; message: string }[]
  /** What the request named that does not exist, such as the run `first`. */
  missing?: { kind: string; name: string }
  request: { method: string; path: string }
}

interface CliErrorOptions {
  exitCode?: number
  problem?: Problem
  isTransient?: boolean
  cause?: unknown
}
