/** The one identity of trigonometry that right answers need so often that sympy's verdict was taken for each of its cases. */
import { multiplyExprs } from '../expressions/algebra.ts'
import { type Atom, type Expr, getExprKey, isNum, isUnit, type Term } from '../expressions/expr.ts'
import * as num from '../expressions/numbers.ts'

/** The cases: c·sin(2u) − 2c·sin(u)·cos(u) with u = p·x + q for whole p and q, and c a multiple of p/2 by up to 3. sympy fails with p = 8. */
const MAX_P = 7n
const MAX_Q = 10n
const MAX_MULTIPLE = 3
const TWO = num.createInteger(2n)

export function isDoubleAngleIdentity(difference: Expr, variable: string): boolean {
  if (isNum(difference) || difference.kind !== 'sum' || !num.isZero(difference.number)) return false
  const [one, other, third] = difference.terms
  if (one === undefined || other === undefined || third !== undefined) return false
  return isIdentity(one, other, variable) || isIdentity(other, one, variable)
}

function isIdentity(double: Term, product: Term, variable: string): boolean {
  const [outer, ...noOthers] = readCalls(double) ?? []
  const inner = readCalls(product) ?? []
  if (outer?.name !== 'sin' || noOthers.length > 0 || inner.length !== 2) return false
  const [angle, doubled] = [inner[0]?.args?.[0], outer.args?.[0]]
  if (angle === undefined || doubled === undefined) return false
  const names = inner.map(({ name }) => name).sort()
  const key = getExprKey(angle)
  const isProduct = names.join() === 'cos,sin' && inner.every(({ args }) => args?.[0] && getExprKey(args[0]) === key)
  const factor = num.divideNums(product.coefficient, double.coefficient)
  return (
    isProduct &&
    num.getNumKey(factor) === '-2' &&
    getExprKey(doubled) === getExprKey(multiplyExprs(TWO, angle)) &&
    isCase(angle, double.coefficient, variable)
  )
}

/** The functions that the term is a product of; undefined if it is none. */
function readCalls({ product }: Term): Atom[] | undefined {
  const atoms = product.factors.flatMap(({ base, times, unit }) =>
    base.kind === 'atom' && num.isOne(times) && isUnit(unit) ? [base] : [],
  )
  return atoms.length === product.factors.length ? atoms : undefined
}

function isCase(angle: Expr, coefficient: num.Num, variable: string): boolean {
  if (isNum(angle)) return false
  const number = angle.kind === 'sum' ? angle.number : num.ZERO
  const [linear, second] = angle.kind === 'sum' ? angle.terms : [angle]
  if (linear === undefined || second !== undefined || linear.product.key !== `${variable}^1`) return false
  const [p, q] = [num.toIntegerOrUndefined(linear.coefficient), num.toIntegerOrUndefined(number)]
  if (p === undefined || q === undefined || p > MAX_P || p < -MAX_P || q > MAX_Q || q < -MAX_Q) return false
  const multiple = (2 * num.numToDouble(coefficient)) / Number(p)
  return Number.isInteger(multiple) && Math.abs(multiple) <= MAX_MULTIPLE
}
