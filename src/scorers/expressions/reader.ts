/**
 * Reads an answer's expression as sympy's `parse_expr` would, but as data: numbers, names, brackets, functions and
 * operators give a value by the rules of `algebra.ts`, anything else is refused. The bounds are those of
 * `src/engine/host/reading.py`; text nests at most 50 brackets deep, so the recursion does too.
 */
import { length } from '../python/text.ts'
import { add, divide, type Expr, I, isNum, keyOf, multiply, negate, power } from './algebra.ts'
import { bitsOfExpr, reachOf } from './bounds.ts'
import { apply, floored, nameValue, numberOf } from './functions.ts'
import * as num from './numbers.ts'
import { type Num, Refused } from './numbers.ts'
import { type Token, tokensOf } from './tokens.ts'

const MAX_CHARS = 16_384
const MAX_CALLS = 200
const MAX_DEPTH = 50
const MAX_FACTORS = 100
const MAX_TERMS = 1000
const KEYWORDS = new Set(
  'None and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
)

/** The value of the text; throws Refused where it has none, or none that is bounded. */
export function readExpression(text: string): Expr {
  if (length(text) > MAX_CHARS) throw new Refused('too long')
  if ((text.match(/[(!]/g)?.length ?? 0) > MAX_CALLS) throw new Refused('too many calls')
  checkDepth(text)
  const reader = new Reader(tokensOf(text))
  const value = reader.disjunction()
  if (reader.hasMore()) throw new Refused('more behind the expression')
  return value
}

function checkDepth(text: string): void {
  let depth = 0
  for (const bracket of text.match(/[()[\]{}]/g) ?? []) {
    depth += '([{'.includes(bracket) ? 1 : -1
    if (depth > MAX_DEPTH) throw new Refused('too deep')
  }
}

/** A method for each rank of Python's operators, the weakest first. */
class Reader {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  hasMore(): boolean {
    return this.#at < this.#tokens.length
  }

  /** Two answers for one: `4*6 or 6*4`. */
  disjunction(): Expr {
    let value = this.#conjunction()
    while (this.#takeName('or')) {
      const other = this.#conjunction()
      if (!isTrue(value)) value = other
    }
    return value
  }

  #conjunction(): Expr {
    let value = this.#inversion()
    while (this.#takeName('and')) {
      const other = this.#inversion()
      if (isTrue(value)) value = other
    }
    return value
  }

  #inversion(): Expr {
    let count = 0
    while (this.#takeName('not')) count++
    const value = this.#comparison()
    return count === 0 ? value : truth(isTrue(value) === (count % 2 === 0))
  }

  #comparison(): Expr {
    const left = this.#binary(0)
    const sign = this.#take('==', '!=')
    return sign === undefined ? left : truth((keyOf(left) === keyOf(this.#binary(0))) === (sign === '=='))
  }

  /** `|`, `^` and `&`, all of whole numbers. */
  #binary(rank: number): Expr {
    const bitwise = BITWISE[rank]
    if (bitwise === undefined) return this.#sum()
    let value = this.#binary(rank + 1)
    for (let count = 1; this.#take(bitwise.sign); count++) {
      if (count > MAX_TERMS) throw new Refused('too many terms')
      value = num.integer(bitwise.rule(wholeOf(value), wholeOf(this.#binary(rank + 1))))
    }
    return value
  }

  #sum(): Expr {
    const terms = [this.#product()]
    for (let sign = this.#take('+', '-'); sign !== undefined; sign = this.#take('+', '-')) {
      const term = this.#product()
      terms.push(sign === '-' ? negate(term) : term)
      if (terms.length > MAX_TERMS) throw new Refused('too many terms')
    }
    const [first] = terms
    return terms.length === 1 && first !== undefined ? first : add(terms)
  }

  #product(): Expr {
    let value = this.#signed()
    let factors = 1
    for (let sign = this.#take('*', '/', '%', '//'); sign !== undefined; sign = this.#take('*', '/', '%', '//')) {
      if (++factors > MAX_FACTORS) throw new Refused('too many factors')
      const factor = this.#signed()
      if (sign === '*') value = multiply(value, factor)
      else if (sign === '/') value = divide(value, factor)
      else value = sign === '%' ? remainder(value, factor) : num.integer(floored(numberOf(divide(value, factor))))
    }
    return value
  }

  #signed(): Expr {
    const isNegative = this.#minus()
    const value = this.#power()
    return isNegative ? negate(value) : value
  }

  /** From right to left; the sign in front of an exponent is taken after that one's own exponent. */
  #power(): Expr {
    const bases: { value: Expr; isNegative: boolean }[] = []
    let last = { isNegative: false, value: this.#factorial() }
    while (this.#take('**')) {
      if (bases.push(last) > MAX_DEPTH) throw new Refused('too many powers')
      last = { isNegative: this.#minus(), value: this.#factorial() }
    }
    const { value, isNegative } = bases.reduceRight((exponent, base) => {
      const signed = exponent.isNegative ? negate(exponent.value) : exponent.value
      return { isNegative: base.isNegative, value: bounded(base.value, signed) }
    }, last)
    return isNegative ? negate(value) : value
  }

  #minus(): boolean {
    let isNegative = false
    for (let sign = this.#take('+', '-'); sign !== undefined; sign = this.#take('+', '-'))
      isNegative = isNegative !== (sign === '-')
    return isNegative
  }

  #factorial(): Expr {
    let value = this.#primary()
    const sign = this.#take('!', '!!')
    if (sign !== undefined) value = apply(sign === '!' ? 'factorial' : 'factorial2', [value])
    return value
  }

  #primary(): Expr {
    const token = this.#tokens[this.#at++]
    if (token?.kind === 'number') return numberAt(token.text)
    if (token?.kind === 'name') return this.#named(token.text)
    if (token?.text !== '(') throw new Refused('a value is wanted')
    const value = this.disjunction()
    if (!this.#take(')')) throw new Refused('a bracket is not closed')
    return value
  }

  #named(name: string): Expr {
    if (KEYWORDS.has(name)) throw new Refused('a word of Python')
    if (!this.#take('(')) return nameValue(name)
    const args: Expr[] = []
    while (!this.#take(')')) {
      if (args.length > 0 && !this.#take(',')) throw new Refused('a bracket is not closed')
      if (args.length > 0 && this.#take(')')) break
      args.push(this.disjunction())
    }
    return apply(name, args)
  }

  #take(...signs: string[]): string | undefined {
    const token = this.#tokens[this.#at]
    if (token?.kind !== 'operator' || !signs.includes(token.text)) return undefined
    this.#at++
    return token.text
  }

  #takeName(name: string): boolean {
    const token = this.#tokens[this.#at]
    if (token?.kind !== 'name' || token.text !== name) return false
    this.#at++
    return true
  }
}

const BITWISE: readonly { sign: string; rule: (a: bigint, b: bigint) => bigint }[] = [
  { sign: '|', rule: (a, b) => a | b },
  { sign: '^', rule: (a, b) => a ^ b },
  { sign: '&', rule: (a, b) => a & b },
]

function numberAt(text: string): Expr {
  const isHex = /^0[xX]/.test(text)
  if (!isHex && /[jJ]$/.test(text)) return multiply(numberAt(text.slice(0, -1)), I)
  if (!isHex && /[.eE]/.test(text)) return num.modest(num.readFloat(text))
  return num.modest(num.integer(BigInt(text.replaceAll('_', ''))))
}

function bounded(base: Expr, exponent: Expr): Expr {
  const bits = bitsOfExpr(base)
  if (bits > 0 && bits * reachOf(exponent) > num.MAX_BITS) throw new Refused('too big a power')
  return power(base, exponent)
}

function remainder(a: Expr, b: Expr): Num {
  const [x, y] = [numberOf(a), numberOf(b)]
  if (num.isZero(y)) return num.NAN
  return num.add(x, num.negate(num.multiply(y, num.integer(floored(num.divide(x, y))))))
}

function wholeOf(x: Expr): bigint {
  const whole = isNum(x) ? num.integerOf(x) : undefined
  if (whole === undefined) throw new Refused('a whole number is wanted')
  return whole
}

function isTrue(x: Expr): boolean {
  return !isNum(x) || !num.isZero(x)
}

function truth(holds: boolean): Expr {
  return holds ? num.ONE : num.ZERO
}
