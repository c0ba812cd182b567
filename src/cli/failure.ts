/** A failure that the command line tells in one line: what is wrong and what to do. */
export class Failure extends Error {
  /** 1: it did not work; 2: the command was not understood. */
  readonly exitCode: number

  constructor(message: string, { exitCode = 1, cause }: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause })
    this.exitCode = exitCode
  }
}
