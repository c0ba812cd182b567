/** The log of one request, made when something is written to it: most requests write nothing, and making one takes long. */
import type { FastifyBaseLogger } from 'fastify'

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace'
type Child = Parameters<FastifyBaseLogger['child']>

export function lazyLog(logger: FastifyBaseLogger, bindings: Child[0], options: Child[1]): FastifyBaseLogger {
  return new LazyLog(logger, () => logger.child(bindings, options))
}

/** Methods, not getters: Fastify looks on every request whether all of them are there. */
class LazyLog implements FastifyBaseLogger {
  readonly #parent: FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean } // pino has it
  readonly #make: () => FastifyBaseLogger
  #own: FastifyBaseLogger | undefined

  constructor(parent: FastifyBaseLogger, make: () => FastifyBaseLogger) {
    this.#parent = parent
    this.#make = make
  }

  get level(): string {
    return this.#parent.level
  }

  fatal(...line: unknown[]): void {
    this.#write('fatal', line)
  }
  error(...line: unknown[]): void {
    this.#write('error', line)
  }
  warn(...line: unknown[]): void {
    this.#write('warn', line)
  }
  info(...line: unknown[]): void {
    this.#write('info', line)
  }
  debug(...line: unknown[]): void {
    this.#write('debug', line)
  }
  trace(...line: unknown[]): void {
    this.#write('trace', line)
  }
  silent(): void {}

  child(...of: Child): FastifyBaseLogger {
    return this.#ours().child(...of)
  }

  /** What the parent would not write the child would not write either. */
  #write(level: Level, line: unknown[]): void {
    if (this.#parent.isLevelEnabled?.(level) === false) return
    const own = this.#ours()
    Reflect.apply(own[level], own, line)
  }

  #ours(): FastifyBaseLogger {
    this.#own ??= this.#make()
    return this.#own
  }
}
