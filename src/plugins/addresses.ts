/** Which addresses there are, for calls to those that there are not. */
import { Fault } from '../faults.ts'

interface Address {
  pattern: RegExp
  /** How much of it is fixed: `/eval/compare` comes before `/eval/:id`. */
  fixed: number
  methods: Set<string>
}

export class Addresses {
  private readonly all = new Map<string, Address>()

  add(methods: string[], url: string): void {
    const plain = url.length > 1 ? url.replace(/\/$/, '') : url
    const pattern = plain
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replaceAll('*', '.*')
    const known = this.all.get(plain)
    const address = known ?? { pattern: new RegExp(`^${pattern}/?$`), fixed: fixedPart(plain), methods: new Set() }
    for (const method of methods) address.methods.add(method)
    if (url !== '*') this.all.set(plain, address) // that is the answer to what browsers ask first, not an address
  }

  /** Whether the path, as it is, is an address that does not take this method, though a wider pattern would. */
  isTakenOtherwise(url: string, method: string): boolean {
    const known = this.all.get(url.split('?')[0] ?? '')
    return known !== undefined && !known.methods.has(method)
  }

  methodsAt(url: string): string[] {
    const [path = ''] = url.split('?')
    const found = [...this.all.values()].filter(({ pattern }) => pattern.test(path))
    return [...(found.toSorted((a, b) => b.fixed - a.fixed)[0]?.methods ?? [])]
  }

  /** What a call gets for which there is no answer: nothing is here, or, where another method is taken, that it is. */
  faultAt(url: string, method: string): Fault {
    const [path = ''] = url.split('?')
    const methods = this.methodsAt(url)
    const shown = path.slice(0, 200)
    // A folder takes the method for all that could be in it, and yet has no such file.
    return methods.length === 0 || methods.includes(method)
      ? new Fault('not_found', `There is nothing at ${shown}; GET /docs lists what there is`)
      : new Fault('method_not_allowed', `${shown} takes ${methods.join(', ')}`)
  }
}

function fixedPart(url: string): number {
  return url.replace(/:\w+|\*/g, '').length
}
