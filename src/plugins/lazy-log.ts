/** The log of one request, made when something is written to it: most requests write nothing, and making one takes long. */
import type { FastifyBaseLogger } from 'fastify'

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace'
type Child = Parameters<FastifyBaseLogger['child']>
type Root = FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean } // pino has it

/** What the root would not write its children would not write either, but for those with a level of their own. */
export class LazyLog implements FastifyBaseLogger {
  readonly #root: Root
  readonly #make: () => FastifyBaseLogger
  #own: FastifyBaseLogger | undefined

  constructor(root: Root, make: () => FastifyBaseLogger = () => root) {
    this.#root = root
    this.#make = make
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

  child(bindings: Child[0], options?: Child[1]): FastifyBaseLogger {
    const make = () => this.#ours().child(bindings, options)
    return options && 'level' in options ? make() : new LazyLog(this.#root, make)
  }

  #write(level: Level, line: unknown[]): void {
    if (this.#root.isLevelEnabled?.(level) === false) return
    const own = this.#ours()
    Reflect.apply(own[level], own, line)
  }

  #ours(): FastifyBaseLogger {
    this.#own ??= this.#make()
    return this.#own
  }
}
