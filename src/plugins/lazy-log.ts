/** The log of one request, made when something is written to it: most requests write nothing, and making one takes long. */
import type { FastifyBaseLogger } from 'fastify'

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace'
type Make = () => FastifyBaseLogger

type Child = Parameters<FastifyBaseLogger['child']>

export function lazyLog(logger: FastifyBaseLogger, bindings: Child[0], options: Child[1]): FastifyBaseLogger {
  return new LazyLog(logger, () => logger.child(bindings, options))
}

class LazyLog implements FastifyBaseLogger {
  readonly #parent: FastifyBaseLogger
  readonly #make: Make
  #own: FastifyBaseLogger | undefined

  constructor(parent: FastifyBaseLogger, make: Make) {
    this.#parent = parent
    this.#make = make
  }

  get level(): string {
    return this.#parent.level
  }

  get fatal() {
    return this.#writer('fatal')
  }
  get error() {
    return this.#writer('error')
  }
  get warn() {
    return this.#writer('warn')
  }
  get info() {
    return this.#writer('info')
  }
  get debug() {
    return this.#writer('debug')
  }
  get trace() {
    return this.#writer('trace')
  }
  get silent() {
    return this.#parent.silent
  }
  get child() {
    const own = this.#ours()
    return own.child.bind(own)
  }

  /** What the parent would not write the child would not write either. */
  #writer(level: Level): FastifyBaseLogger[Level] {
    const parent = this.#parent as FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean } // pino has it
    if (parent.isLevelEnabled?.(level) === false) return parent.silent
    const own = this.#ours()
    return own[level].bind(own) as FastifyBaseLogger[Level] // the same function, bound
  }

  #ours(): FastifyBaseLogger {
    this.#own ??= this.#make()
    return this.#own
  }
}
