/**
 * Reads an answer's expression as sympy's `parse_expr` would, but as data: numbers, names, brackets, functions and
 * operators give a value by the rules of `algebra.ts`, anything else is refused. The bounds are those of
 * `src/engine/host/reading.py`; text nests at most 50 brackets deep, so the recursion does too.
 */
import { length } from '../python/text.ts'
import { add, negate } from './algebra.ts'
import { type Expr, isNum, keyOf } from './expr.ts'
import { apply, nameValue } from './functions.ts'
import {
  BITWISE,
  checkOperands,
  FACTORING,
  isTrue,
  numberAt,
  raise,
  refuseTruths,
  truth,
  wholeOf,
} from './operators.ts'
import { Refused } from './refused.ts'
import { type Token, tokensOf } from './tokens.ts'

const MAX_CHARS = 16_384
const MAX_CALLS = 200
const MAX_DEPTH = 50
const MAX_FACTORS = 100
const MAX_TERMS = 1000
/** Terms and factors of all sums and products on the way: about 15 ms. The ladder's longest answer comes to some 3,000. */
const MAX_WORK = 20_000
const KEYWORDS =
  /^(?:None|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)$/

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
  #work = 0

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
      value = bitwise.rule(wholeOf(value), wholeOf(this.#binary(rank + 1)))
    }
    return value
  }

  #sum(): Expr {
    const first = this.#product()
    const terms = [first]
    const operands = [first]
    for (let sign = this.#take('+', '-'); sign !== undefined; sign = this.#take('+', '-')) {
      if (terms.length === MAX_TERMS) throw new Refused('too many terms')
      const term = this.#product()
      operands.push(term)
      terms.push(sign === '-' ? negate(term) : term)
    }
    if (terms.length === 1) return first
    checkOperands(operands)
    return this.#counted(add(terms))
  }

  #product(): Expr {
    let value = this.#signed()
    for (let factors = 1; ; factors++) {
      const sign = this.#take('*', '/', '%', '//')
      const rule = FACTORING.get(sign ?? '')
      if (rule === undefined) return value
      if (factors === MAX_FACTORS) throw new Refused('too many factors')
      const factor = this.#signed()
      const check = sign === '*' ? checkOperands : refuseTruths
      check([value, factor])
      value = this.#counted(rule(value, factor))
    }
  }

  #counted(value: Expr): Expr {
    this.#work += isNum(value) ? 1 : value.kind === 'sum' ? value.terms.length : value.product.factors.length
    if (this.#work > MAX_WORK) throw new Refused('too much work')
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
      return { isNegative: base.isNegative, value: raise(base.value, signed) }
    }, last)
    return isNegative ? negate(value) : value
  }

  #minus(): boolean {
    let isNegative = false
    while (true) {
      const sign = this.#take('+', '-')
      if (sign === undefined) return isNegative
      if (sign === '-') isNegative = !isNegative
    }
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
    if (KEYWORDS.test(name)) throw new Refused('a word of Python')
    if (!this.#take('(')) return nameValue(name)
    const args: Expr[] = []
    while (!this.#take(')')) {
      if (args.length > 0 && !this.#take(',')) throw new Refused('a bracket is not closed')
      if (args.length > 0 && this.#take(')')) break
      args.push(this.disjunction())
    }
    refuseTruths(args)
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
