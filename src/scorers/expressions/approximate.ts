/** The value of an expression without variables in double precision, complex on the way. */
import { type Atom, type Expr, type Factor, isNum } from './expr.ts'
import { toDouble } from './numbers.ts'
import { Refused } from './refused.ts'

export interface Complex {
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

/** Throws Refused where a variable, or a function that is not known, stands in it. */
export function approximate(x: Expr): Complex {
  if (isNum(x)) return { re: toDouble(x), im: 0 }
  if (x.kind === 'term')
    return x.product.factors.map(factorValue).reduce(product, { re: toDouble(x.coefficient), im: 0 })
  return x.terms.map(approximate).reduce(sum, { re: toDouble(x.number), im: 0 })
}

function factorValue({ base, times, unit }: Factor): Complex {
  const value = base.kind === 'atom' ? atomValue(base) : approximate(base)
  const exponent = product({ re: toDouble(times), im: 0 }, approximate(unit))
  if (value.im === 0 && exponent.im === 0 && (value.re >= 0 || Number.isInteger(exponent.re))) {
    return { re: value.re ** exponent.re, im: 0 }
  }
  const size = Math.log(Math.hypot(value.re, value.im))
  const angle = Math.atan2(value.im, value.re)
  const grown = Math.exp(exponent.re * size - exponent.im * angle)
  const turned = exponent.im * size + exponent.re * angle
  return { re: grown * Math.cos(turned), im: grown * Math.sin(turned) }
}

function atomValue({ name, args }: Atom): Complex {
  if (args === undefined) return realOf(CONSTANTS[name])
  const [argument] = args
  const rule = REAL_FUNCTIONS.get(name)
  if (argument === undefined || rule === undefined || args.length > 1) throw new Refused('not a number')
  const { re, im } = approximate(argument)
  return realOf(im === 0 ? rule(re) : undefined)
}

function realOf(value: number | undefined): Complex {
  if (value === undefined || !Number.isFinite(value)) throw new Refused('not a real number')
  return { re: value, im: 0 }
}

function product(a: Complex, b: Complex): Complex {
  if (a.im === 0 && b.im === 0) return { re: a.re * b.re, im: 0 }
  return { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re }
}

function sum(a: Complex, b: Complex): Complex {
  return { re: a.re + b.re, im: a.im + b.im }
}
