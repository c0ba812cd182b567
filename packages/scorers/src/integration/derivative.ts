/** Derivatives in symbols, and the proof that a sum is zero because all of its terms cancel when it is multiplied out. */
import { addExprs, multiplyExprs, raiseExpr } from '../expressions/algebra.ts'
import {
  type Atom,
  createCall,
  createTerm,
  type Expr,
  type Factor,
  isNum,
  isUnit,
  type Sum,
  type Term,
} from '../expressions/expr.ts'
import * as num from '../expressions/numbers.ts'

/** Powers of sums that are multiplied out, and terms on the way. */
const MAX_POWER = 12n
const MAX_TERMS = 400

/** Undefined where the rules below do not suffice. */
export function differentiateExpr(x: Expr, variable: string): Expr | undefined {
  if (isNum(x)) return num.ZERO
  if (x.kind === 'sum') return addAll(x.terms.map((term) => differentiateTerm(term, variable)))
  return differentiateTerm(x, variable)
}

function differentiateTerm({ coefficient, product }: Term, variable: string): Expr | undefined {
  const { factors } = product
  return addAll(
    factors.map((factor, k) => {
      const slope = differentiateFactor(factor, variable)
      if (slope === undefined || (isNum(slope) && num.isZero(slope) && coefficient.kind !== 'limit')) return slope
      const others = factors.toSpliced(k, 1)
      return [...others.map(toPower), slope].reduce(multiplyExprs, coefficient)
    }),
  )
}

function differentiateFactor(factor: Factor, variable: string): Expr | undefined {
  const { base, times, unit } = factor
  if (isNum(base)) return isUnit(unit) ? num.ZERO : undefined
  if (base.kind === 'atom' && base.name === 'E' && base.args === undefined) {
    const slope = differentiateExpr(multiplyExprs(times, unit), variable)
    return slope && multiplyExprs(slope, toPower(factor))
  }
  if (!isUnit(unit)) return undefined
  const slope = base.kind === 'atom' ? differentiateAtom(base, variable) : differentiateExpr(base, variable)
  if (slope === undefined || (isNum(slope) && num.isZero(slope))) return slope
  const less = num.addNums(times, num.MINUS_ONE)
  return multiplyExprs(multiplyExprs(times, slope), toPower({ ...factor, times: less }))
}

const ATOM_SLOPES: ReadonlyMap<string, (x: Expr) => Expr> = new Map([
  ['sin', (x: Expr) => createCall('cos', [x])],
  ['cos', (x: Expr) => multiplyExprs(num.MINUS_ONE, createCall('sin', [x]))],
  ['log', (x: Expr) => raiseExpr(x, num.MINUS_ONE)],
  ['atan', (x: Expr) => raiseExpr(addExprs([num.ONE, multiplyExprs(x, x)]), num.MINUS_ONE)],
  [
    'asin',
    (x: Expr) =>
      raiseExpr(
        addExprs([num.ONE, multiplyExprs(num.MINUS_ONE, multiplyExprs(x, x))]),
        num.multiplyNums(num.MINUS_ONE, num.HALF),
      ),
  ],
])

function differentiateAtom({ name, args }: Atom, variable: string): Expr | undefined {
  if (args === undefined) return name === variable ? num.ONE : num.ZERO
  const rule = ATOM_SLOPES.get(name)
  const [argument] = args
  const slope = argument && differentiateExpr(argument, variable)
  return rule && argument && slope && multiplyExprs(slope, rule(argument))
}

function addAll(parts: (Expr | undefined)[]): Expr | undefined {
  const known = parts.filter((part) => part !== undefined)
  return known.length < parts.length || known.length === 0 ? undefined : addExprs(known)
}

/** Multiplied by one, so that it takes the form that a product of its own has. */
function toPower(factor: Factor): Expr {
  return multiplyExprs(createTerm(num.ONE, [factor]), createTerm(num.ONE, []))
}

/**
 * Whether the sum of the parts is zero as a polynomial of whatever is no sum: then sympy finds zero too. Terms over the root
 * of a sum are brought to the root first, as sympy's `together` does.
 */
export function isZeroMultipliedOut(parts: readonly Expr[]): boolean {
  const sum = addExpanded(parts)
  if (sum === undefined || isNum(sum)) return sum !== undefined && num.isZero(sum)
  if (sum.kind !== 'sum') return false
  const root = findInverseRoot(sum.terms)
  const cleared = root && addExpanded(multiplyTerms(sum, root))
  return cleared !== undefined && isNum(cleared) && num.isZero(cleared)
}

function addExpanded(parts: readonly Expr[]): Expr | undefined {
  const terms = parts.map(expandExpr)
  if (terms.some((list) => list === undefined)) return undefined
  return addExprs([num.ZERO, ...terms.flatMap((list) => list ?? [])])
}

function multiplyTerms({ number, terms }: Sum, by: Expr): Expr[] {
  return [number, ...terms].map((term) => multiplyExprs(term, by))
}

/** The root that a term is divided by. */
function findInverseRoot(terms: readonly Term[]): Expr | undefined {
  for (const factor of terms.flatMap(({ product }) => product.factors)) {
    const { base, times, unit } = factor
    if (!isNum(base) && base.kind === 'sum' && isUnit(unit) && num.getNumKey(times) === '-1/2')
      return toPower({ ...factor, times: num.HALF })
  }
  return undefined
}

/** The terms of the expression multiplied out; undefined if there are too many. */
function expandExpr(x: Expr): Expr[] | undefined {
  if (isNum(x)) return [x]
  if (x.kind === 'term') return expandTerm(x)
  const all: Expr[] = [x.number]
  for (const term of x.terms) {
    const parts = expandTerm(term)
    if (parts === undefined || all.length + parts.length > MAX_TERMS) return undefined
    all.push(...parts)
  }
  return all
}

function expandTerm(term: Term): Expr[] | undefined {
  let all: Expr[] = [term.coefficient]
  for (const factor of term.product.factors) {
    const { base, times, unit } = factor
    const power = isUnit(unit) ? (num.toIntegerOrUndefined(times) ?? 0n) : 0n
    const isExpandable = !isNum(base) && base.kind === 'sum' && power > 0n
    if (isExpandable && power > MAX_POWER) return undefined
    const parts = isExpandable ? expandExpr(base) : [toPower(factor)]
    for (let k = isExpandable ? power : 1n; k > 0n; k--) {
      if (parts === undefined || all.length * parts.length > MAX_TERMS) return undefined
      all = all.flatMap((left) => parts.map((right) => multiplyExprs(left, right)))
      all = collect(all)
    }
  }
  return all.some(isExpandableExpr) ? undefined : all
}

/** Roots of one sum may have come together to a power of it. */
function isExpandableExpr(x: Expr): boolean {
  if (isNum(x)) return false
  return (
    x.kind === 'sum' ||
    x.product.factors.some(
      ({ base, times, unit }) =>
        !isNum(base) && base.kind === 'sum' && isUnit(unit) && (num.toIntegerOrUndefined(times) ?? 0n) > 0n,
    )
  )
}

function collect(all: Expr[]): Expr[] {
  const sum = addExprs(all)
  return isNum(sum) || sum.kind === 'term' ? [sum] : [sum.number, ...sum.terms]
}
