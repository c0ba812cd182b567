/** The log of one request, created on first use: most requests log nothing, and creating a logger is slow. */
import type { FastifyBaseLogger } from 'fastify'

type LogMethod = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace'
type ChildArguments = Parameters<FastifyBaseLogger['child']>
type RootLogger = FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean } // pino has it

/** A line below the root's level is dropped without creating the child, except for children with their own level. */
export class LazyLogger implements FastifyBaseLogger {
  readonly #root: RootLogger
  readonly #createLogger: () => FastifyBaseLogger
  #logger: FastifyBaseLogger | undefined

  constructor(root: RootLogger, make: () => FastifyBaseLogger = () => root) {
    this.#root = root
    this.#createLogger = make
  }

  get level(): string {
    return this.#root.level
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

  child(bindings: ChildArguments[0], options?: ChildArguments[1]): FastifyBaseLogger {
    const make = () => this.#getOrCreateLogger().child(bindings, options)
    return options && 'level' in options ? make() : new LazyLogger(this.#root, make)
  }

  #write(level: LogMethod, line: unknown[]): void {
    if (this.#root.isLevelEnabled?.(level) === false) return
    const own = this.#getOrCreateLogger()
    Reflect.apply(own[level], own, line)
  }

  #getOrCreateLogger(): FastifyBaseLogger {
    this.#logger ??= this.#createLogger()
    return this.#logger
  }
}
