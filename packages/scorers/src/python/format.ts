/** Python's `f"{x:.10g}"` and its like. */
import { divideHalfEven, exactRatio } from './numbers.ts'

/** The general format of a finite float: `precision` significant digits of its exact value, ties to even, no trailing zeros. */
export function formatGeneral(x: number, precision: number): string {
  const sign = x < 0 || Object.is(x, -0) ? '-' : ''
  if (x === 0) return `${sign}0`
  let exponent = Number(x.toExponential().split('e')[1])
  let digits = String(scaleToInteger(Math.abs(x), precision - 1 - exponent))
  if (digits.length > precision) exponent++
  digits = digits.slice(0, precision).replace(/(?<!0)0+$/, '')
  if (exponent < -4 || exponent >= precision) {
    const power = `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
    return `${sign}${insertPoint(digits, 1)}e${power}`
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  return `${sign}${insertPoint(digits.padEnd(exponent + 1, '0'), exponent + 1)}`
}

/** x · 10 ** power, rounded half-even. */
function scaleToInteger(x: number, power: number): bigint {
  const [numerator, denominator] = exactRatio(x)
  return power >= 0
    ? divideHalfEven(numerator * 10n ** BigInt(power), denominator)
    : divideHalfEven(numerator, denominator * 10n ** BigInt(-power))
}

function insertPoint(digits: string, whole: number): string {
  return digits.length > whole ? `${digits.slice(0, whole)}.${digits.slice(whole)}` : digits
}
