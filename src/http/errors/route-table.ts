/**
 * The paths and methods of all routes, for the 404 or 405 of a request that matches none. Not one 405 route per path and
 * method: those would pass the onRoute hooks of authorization, metrics, admission and the API document like real routes, so
 * that a reader who sends DELETE /tasks would get a 403, and each pattern would need its own labels.
 */
import { ServiceError } from '@reasoning-gym-server/contract/errors'

interface RoutePattern {
  pattern: RegExp
  /** Literal characters: `/eval/compare` ranks before `/eval/:id`. */
  literalLength: number
  methods: Set<string>
}

export class RouteTable {
  readonly #patterns = new Map<string, RoutePattern>()

  add(methods: string[], url: string): void {
    const plain = url.length > 1 ? url.replace(/\/$/, '') : url
    const pattern = plain
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replaceAll('*', '.*')
    const known = this.#patterns.get(plain)
    const route = known ?? {
      pattern: new RegExp(`^${pattern}/?$`),
      literalLength: countLiteralChars(plain),
      methods: new Set(),
    }
    for (const method of methods) route.methods.add(method)
    if (url !== '*') this.#patterns.set(plain, route) // `*` answers CORS preflights
  }

  /** Whether the path is a literal route without this method, although a wider pattern has it. */
  isMethodMismatch(url: string, method: string): boolean {
    const known = this.#patterns.get(url.split('?')[0] ?? '')
    return known !== undefined && !known.methods.has(method)
  }

  listMethods(url: string): string[] {
    const [path = ''] = url.split('?')
    const found = [...this.#patterns.values()].filter(({ pattern }) => pattern.test(path))
    return [...(found.toSorted((a, b) => b.literalLength - a.literalLength)[0]?.methods ?? [])]
  }

  /** A 404, or a 405 if the path supports other methods. */
  createRoutingError(url: string, method: string): ServiceError {
    const [path = ''] = url.split('?')
    const methods = this.listMethods(url)
    const shown = path.slice(0, 200)
    // A folder route supports the method, but has no such file.
    return methods.length === 0 || methods.includes(method)
      ? new ServiceError('not_found', `There is nothing at ${shown}. See /docs for all routes.`)
      : new ServiceError(
          'method_not_allowed',
          `${shown} does not support ${method}. Supported methods: ${methods.join(', ')}.`,
        )
  }
}

function countLiteralChars(url: string): number {
  return url.replace(/:\w+|\*/g, '').length
}
