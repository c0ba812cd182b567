/** Which addresses there are, for calls to those that there are not. */
import { ServiceError } from '../../contract/errors.ts'

interface RoutePattern {
  pattern: RegExp
  /** How much of it is fixed: `/eval/compare` comes before `/eval/:id`. */
  literalLength: number
  methods: Set<string>
}

export class RouteTable {
  private readonly patterns = new Map<string, RoutePattern>()

  add(methods: string[], url: string): void {
    const plain = url.length > 1 ? url.replace(/\/$/, '') : url
    const pattern = plain
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replaceAll('*', '.*')
    const known = this.patterns.get(plain)
    const address = known ?? {
      pattern: new RegExp(`^${pattern}/?$`),
      literalLength: countLiteralChars(plain),
      methods: new Set(),
    }
    for (const method of methods) address.methods.add(method)
    if (url !== '*') this.patterns.set(plain, address) // that is the answer to what browsers ask first, not an address
  }

  /** Whether the path, as it is, is an address that does not take this method, though a wider pattern would. */
  isMethodMismatch(url: string, method: string): boolean {
    const known = this.patterns.get(url.split('?')[0] ?? '')
    return known !== undefined && !known.methods.has(method)
  }

  listMethods(url: string): string[] {
    const [path = ''] = url.split('?')
    const found = [...this.patterns.values()].filter(({ pattern }) => pattern.test(path))
    return [...(found.toSorted((a, b) => b.literalLength - a.literalLength)[0]?.methods ?? [])]
  }

  /** What a call gets for which there is no answer: nothing is here, or, where another method is taken, that it is. */
  createRoutingError(url: string, method: string): ServiceError {
    const [path = ''] = url.split('?')
    const methods = this.listMethods(url)
    const shown = path.slice(0, 200)
    // A folder takes the method for all that could be in it, and yet has no such file.
    return methods.length === 0 || methods.includes(method)
      ? new ServiceError('not_found', `There is nothing at ${shown}; GET /docs lists what there is`)
      : new ServiceError('method_not_allowed', `${shown} takes ${methods.join(', ')}`)
  }
}

function countLiteralChars(url: string): number {
  return url.replace(/:\w+|\*/g, '').length
}
