/** The value of an expression without variables in double precision, complex on the way. */
import { type Atom, type Expr, type Factor, isNum } from './expr.ts'
import { numToDouble } from './numbers.ts'
import { UnsupportedExpressionError } from './tokens.ts'

export interface ComplexNumber {
  re: number
  im: number
}

const CONSTANTS: Readonly<Record<string, number>> = {
  pi: Math.PI,
  E: Math.E,
  EulerGamma: 0.577_215_664_901_532_9,
  GoldenRatio: 1.618_033_988_749_895,
  Catalan: 0.915_965_594_177_219,
}

/** Functions of one real number; where they leave the reals they give NaN. */
export const REAL_FUNCTIONS: ReadonlyMap<string, (x: number) => number> = new Map([
  ['log', Math.log],
  ['sin', Math.sin],
  ['cos', Math.cos],
  ['tan', Math.tan],
  ['asin', Math.asin],
  ['acos', Math.acos],
  ['atan', Math.atan],
  ['sinh', Math.sinh],
  ['cosh', Math.cosh],
  ['tanh', Math.tanh],
])

/** Throws UnsupportedExpressionError if it contains a variable or an unknown function. */
export function approximateExpr(x: Expr): ComplexNumber {
  if (isNum(x)) return { re: numToDouble(x), im: 0 }
  if (x.kind === 'term')
    return x.product.factors.map(approximateFactor).reduce(multiplyComplex, { re: numToDouble(x.coefficient), im: 0 })
  return x.terms.map(approximateExpr).reduce(addComplex, { re: numToDouble(x.number), im: 0 })
}

function approximateFactor({ base, times, unit }: Factor): ComplexNumber {
  const value = base.kind === 'atom' ? approximateAtom(base) : approximateExpr(base)
  const exponent = multiplyComplex({ re: numToDouble(times), im: 0 }, approximateExpr(unit))
  if (value.im === 0 && exponent.im === 0 && (value.re >= 0 || Number.isInteger(exponent.re))) {
    return { re: value.re ** exponent.re, im: 0 }
  }
  const size = Math.log(Math.hypot(value.re, value.im))
  const angle = Math.atan2(value.im, value.re)
  const grown = Math.exp(exponent.re * size - exponent.im * angle)
  const turned = exponent.im * size + exponent.re * angle
  return { re: grown * Math.cos(turned), im: grown * Math.sin(turned) }
}

function approximateAtom({ name, args }: Atom): ComplexNumber {
  if (args === undefined) return requireReal(CONSTANTS[name])
  const [argument] = args
  const rule = REAL_FUNCTIONS.get(name)
  if (argument === undefined || rule === undefined || args.length > 1)
    throw new UnsupportedExpressionError('not a number')
  const { re, im } = approximateExpr(argument)
  return requireReal(im === 0 ? rule(re) : undefined)
}

function requireReal(value: number | undefined): ComplexNumber {
  if (value === undefined || !Number.isFinite(value)) throw new UnsupportedExpressionError('not a real number')
  return { re: value, im: 0 }
}

function multiplyComplex(a: ComplexNumber, b: ComplexNumber): ComplexNumber {
  if (a.im === 0 && b.im === 0) return { re: a.re * b.re, im: 0 }
  return { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re }
}

function addComplex(a: ComplexNumber, b: ComplexNumber): ComplexNumber {
  return { re: a.re + b.re, im: a.im + b.im }
}
