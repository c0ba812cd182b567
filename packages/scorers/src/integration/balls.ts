/**
 * Complex numbers with a bound of their error, and with their derivative: arithmetic in doubles that never claims more than
 * it knows. Where a function has no value, or the bound is too wide to tell its branch, the radius is NaN.
 */

/** Every number within `radius` of re + im·i. */
export interface Ball {
  re: number
  im: number
  radius: number
}

/** A function's value at a point, and its derivative there. */
export interface Dual {
  value: Ball
  slope: Ball
}

/** Eight units in the last place: more than any operation below is off by, V8's functions included. */
const ROUNDING = 2 ** -50

export function exactBall(re: number, im = 0): Ball {
  return { re, im, radius: 0 }
}

export function roundedBall(re: number, radius = Math.abs(re) * ROUNDING): Ball {
  return { re, im: 0, radius }
}

const ZERO = exactBall(0)
const ONE = exactBall(1)
const I = exactBall(0, 1)

export function constantDual(value: Ball): Dual {
  return { value, slope: ZERO }
}

export function variableDual(value: Ball): Dual {
  return { value, slope: ONE }
}

/** Whether zero is certainly not in the ball. */
export function isAwayFromZero({ re, im, radius }: Ball): boolean {
  return Math.hypot(re, im) > radius
}

export function subtractBalls(a: Ball, b: Ball): Ball {
  return addBalls(a, scaleBall(b, -1))
}

function addBalls(a: Ball, b: Ball): Ball {
  const [re, im] = [a.re + b.re, a.im + b.im]
  return { re, im, radius: a.radius + b.radius + ROUNDING * Math.hypot(re, im) }
}

function scaleBall({ re, im, radius }: Ball, factor: number): Ball {
  return { re: re * factor, im: im * factor, radius: (radius + ROUNDING * Math.hypot(re, im)) * Math.abs(factor) }
}

function multiplyBalls(a: Ball, b: Ball): Ball {
  const [sizeA, sizeB] = [Math.hypot(a.re, a.im), Math.hypot(b.re, b.im)]
  const radius = sizeA * b.radius + sizeB * a.radius + a.radius * b.radius + ROUNDING * sizeA * sizeB
  return { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re, radius }
}

function invertBall({ re, im, radius }: Ball): Ball {
  const size = Math.hypot(re, im)
  const isSafe = size > 2 * radius
  const square = size * size
  return {
    re: re / square,
    im: -im / square,
    radius: isSafe ? radius / (size * (size - radius)) + ROUNDING / size : Number.NaN,
  }
}

function expBall({ re, im, radius }: Ball): Ball {
  const size = Math.exp(re)
  return { re: size * Math.cos(im), im: size * Math.sin(im), radius: size * (Math.expm1(radius) + ROUNDING) }
}

/** The principal branch: a ball that touches the negative numbers has no logarithm, but for a number that is exact. */
function logBall({ re, im, radius }: Ball): Ball {
  const size = Math.hypot(re, im)
  const isOnCut = re < 0 && Math.abs(im) <= radius && !(radius === 0 && im === 0)
  const isSafe = size > 2 * radius && !isOnCut
  const log = { re: Math.log(size), im: Math.atan2(im === 0 ? 0 : im, re) }
  return {
    ...log,
    radius: isSafe ? (2 * radius) / size + ROUNDING * (1 + Math.hypot(log.re, log.im)) : Number.NaN,
  }
}

export function addDuals(a: Dual, b: Dual): Dual {
  return { value: addBalls(a.value, b.value), slope: addBalls(a.slope, b.slope) }
}

export function multiplyDuals(a: Dual, b: Dual): Dual {
  return {
    value: multiplyBalls(a.value, b.value),
    slope: addBalls(multiplyBalls(a.slope, b.value), multiplyBalls(a.value, b.slope)),
  }
}

function invertDual({ value, slope }: Dual): Dual {
  const inverse = invertBall(value)
  return { value: inverse, slope: scaleBall(multiplyBalls(slope, multiplyBalls(inverse, inverse)), -1) }
}

export function expDual({ value, slope }: Dual): Dual {
  const exp = expBall(value)
  return { value: exp, slope: multiplyBalls(exp, slope) }
}

function logDual({ value, slope }: Dual): Dual {
  return { value: logBall(value), slope: multiplyBalls(slope, invertBall(value)) }
}

export function raiseDualToInteger(base: Dual, exponent: number): Dual {
  let result = constantDual(ONE)
  let power = base
  for (let left = Math.abs(exponent); left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = multiplyDuals(result, power)
    if (left > 1) power = multiplyDuals(power, power)
  }
  return exponent < 0 ? invertDual(result) : result
}

export function raiseDual(base: Dual, exponent: Dual): Dual {
  return expDual(multiplyDuals(exponent, logDual(base)))
}

const scale = (x: Dual, factor: number): Dual => multiplyDuals(constantDual(exactBall(factor)), x)
const turn = (x: Dual, by: Ball = I): Dual => multiplyDuals(constantDual(by), x)
const square = (x: Dual): Dual => multiplyDuals(x, x)
const sqrt = (x: Dual): Dual => expDual(scale(logDual(x), 0.5))
const oneMinus = (x: Dual): Dual => addDuals(constantDual(ONE), scale(x, -1))
const cosh = (x: Dual): Dual => scale(addDuals(expDual(x), expDual(scale(x, -1))), 0.5)
const sinh = (x: Dual): Dual => scale(addDuals(expDual(x), scale(expDual(scale(x, -1)), -1)), 0.5)
const cos = (x: Dual): Dual => cosh(turn(x))
const sin = (x: Dual): Dual => turn(sinh(turn(x)), exactBall(0, -1))
const divide = (a: Dual, b: Dual): Dual => multiplyDuals(a, invertDual(b))
/** −i·log(i·x + sqrt(1 − x²)) */
const asin = (x: Dual): Dual => turn(logDual(addDuals(turn(x), sqrt(oneMinus(square(x))))), exactBall(0, -1))

/** As sympy defines them on the complex numbers. */
export const DUAL_FUNCTIONS: ReadonlyMap<string, (x: Dual) => Dual> = new Map([
  ['log', logDual],
  ['sin', sin],
  ['cos', cos],
  ['tan', (x: Dual) => divide(sin(x), cos(x))],
  ['cot', (x: Dual) => divide(cos(x), sin(x))],
  ['sec', (x: Dual) => invertDual(cos(x))],
  ['csc', (x: Dual) => invertDual(sin(x))],
  ['sinh', sinh],
  ['cosh', cosh],
  ['tanh', (x: Dual) => divide(sinh(x), cosh(x))],
  ['asin', asin],
  ['acos', (x: Dual) => addDuals(constantDual(roundedBall(Math.PI / 2)), scale(asin(x), -1))],
  // i/2·(log(1 − i·x) − log(1 + i·x))
  [
    'atan',
    (x: Dual) =>
      scale(turn(addDuals(logDual(oneMinus(turn(x))), scale(logDual(oneMinus(scale(turn(x), -1))), -1))), 0.5),
  ],
])
