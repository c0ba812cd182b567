/**
 * Reads an answer's expression as sympy's `parse_expr` would, but as data: numbers, names, brackets, functions and
 * operators give a value by the rules of `algebra.ts`, anything else is rejected. Brackets nest at most
 * `SAFE_EVAL_LIMITS.depth` deep, so the recursion does too.
 */

import { codePointLength } from '../python/text.ts'
import { SAFE_EVAL_LIMITS } from '../safe-eval-limits.ts'
import { addExprs, negateExpr } from './algebra.ts'
import { type Expr, getExprKey, isNum } from './expr.ts'
import { applyFunction, resolveName } from './functions.ts'
import {
  BITWISE_OPERATORS,
  checkOperands,
  isTruthy,
  MULTIPLICATIVE_OPERATORS,
  parseNumberToken,
  raiseBounded,
  rejectTruthValues,
  requireInteger,
  toTruthValue,
} from './operators.ts'
import {
  ExpressionSyntaxError,
  type ExpressionToken,
  KEYWORDS,
  tokenizeExpression,
  UnsupportedExpressionError,
} from './tokens.ts'

/** Terms and factors of all sums and products on the way: about 15 ms. The ladder's longest answer comes to some 3,000. */
const MAX_WORK = 20_000
const KEYWORD_PATTERN = new RegExp(`^(?:${KEYWORDS})$`)

/** The value of the text; throws UnsupportedExpressionError if it has none, or none within the limits. `onCall` gets the arguments of each function. */
export function parseExpression(text: string, onCall?: (args: readonly Expr[]) => void): Expr {
  if (codePointLength(text) > SAFE_EVAL_LIMITS.expression_chars) throw new UnsupportedExpressionError('too long')
  if ((text.match(/[(!]/g)?.length ?? 0) > SAFE_EVAL_LIMITS.calls)
    throw new UnsupportedExpressionError('too many calls')
  checkDepth(text)
  const reader = new ExpressionParser(tokenizeExpression(text), onCall)
  const value = reader.parseDisjunction()
  if (reader.hasMore()) throw new ExpressionSyntaxError('more behind the expression')
  return value
}

function checkDepth(text: string): void {
  let depth = 0
  for (const bracket of text.match(/[()[\]{}]/g) ?? []) {
    depth += '([{'.includes(bracket) ? 1 : -1
    if (depth > SAFE_EVAL_LIMITS.depth) throw new UnsupportedExpressionError('too deep')
  }
}

/** A method for each rank of Python's operators, the weakest first. */
class ExpressionParser {
  readonly #tokens: readonly ExpressionToken[]
  #position = 0
  #work = 0
  readonly #onCall: ((args: readonly Expr[]) => void) | undefined

  constructor(tokens: readonly ExpressionToken[], onCall?: (args: readonly Expr[]) => void) {
    this.#tokens = tokens
    this.#onCall = onCall
  }

  hasMore(): boolean {
    return this.#position < this.#tokens.length
  }

  /** Two answers for one: `4*6 or 6*4`. */
  parseDisjunction(): Expr {
    let value = this.#parseConjunction()
    while (this.#takeName('or')) {
      const other = this.#parseConjunction()
      if (!isTruthy(value)) value = other
    }
    return value
  }

  #parseConjunction(): Expr {
    let value = this.#parseInversion()
    while (this.#takeName('and')) {
      const other = this.#parseInversion()
      if (isTruthy(value)) value = other
    }
    return value
  }

  #parseInversion(): Expr {
    let count = 0
    while (this.#takeName('not')) count++
    const value = this.#parseComparison()
    return count === 0 ? value : toTruthValue(isTruthy(value) === (count % 2 === 0))
  }

  #parseComparison(): Expr {
    const left = this.#parseBitwise(0)
    const sign = this.#take('==', '!=')
    return sign === undefined
      ? left
      : toTruthValue((getExprKey(left) === getExprKey(this.#parseBitwise(0))) === (sign === '=='))
  }

  /** `|`, `^` and `&`, all of whole numbers. */
  #parseBitwise(rank: number): Expr {
    const bitwise = BITWISE_OPERATORS[rank]
    if (bitwise === undefined) return this.#parseSum()
    let value = this.#parseBitwise(rank + 1)
    for (let count = 1; this.#take(bitwise.sign); count++) {
      if (count > SAFE_EVAL_LIMITS.terms) throw new UnsupportedExpressionError('too many terms')
      value = bitwise.rule(requireInteger(value), requireInteger(this.#parseBitwise(rank + 1)))
    }
    return value
  }

  #parseSum(): Expr {
    const first = this.#parseProduct()
    const terms = [first]
    const operands = [first]
    for (let sign = this.#take('+', '-'); sign !== undefined; sign = this.#take('+', '-')) {
      if (terms.length === SAFE_EVAL_LIMITS.terms) throw new UnsupportedExpressionError('too many terms')
      const term = this.#parseProduct()
      operands.push(term)
      terms.push(sign === '-' ? negateExpr(term) : term)
    }
    if (terms.length === 1) return first
    checkOperands(operands)
    return this.#checkWork(addExprs(terms))
  }

  #parseProduct(): Expr {
    let value = this.#parseSigned()
    for (let factors = 1; ; factors++) {
      const sign = this.#take('*', '/', '%', '//')
      const rule = MULTIPLICATIVE_OPERATORS.get(sign ?? '')
      if (rule === undefined) return value
      if (factors === SAFE_EVAL_LIMITS.factors) throw new UnsupportedExpressionError('too many factors')
      const factor = this.#parseSigned()
      const check = sign === '*' ? checkOperands : rejectTruthValues
      check([value, factor])
      value = this.#checkWork(rule(value, factor))
    }
  }

  #checkWork(value: Expr): Expr {
    this.#work += isNum(value) ? 1 : value.kind === 'sum' ? value.terms.length : value.product.factors.length
    if (this.#work > MAX_WORK) throw new UnsupportedExpressionError('too much work')
    return value
  }

  #parseSigned(): Expr {
    const isNegative = this.#parseSigns()
    const value = this.#parsePower()
    return isNegative ? negateExpr(value) : value
  }

  /** From right to left; the sign in front of an exponent is taken after that one's own exponent. */
  #parsePower(): Expr {
    const bases: { value: Expr; isNegative: boolean }[] = []
    let last = { isNegative: false, value: this.#parseFactorial() }
    while (this.#take('**')) {
      if (bases.push(last) > SAFE_EVAL_LIMITS.depth) throw new UnsupportedExpressionError('too many powers')
      last = { isNegative: this.#parseSigns(), value: this.#parseFactorial() }
    }
    const { value, isNegative } = bases.reduceRight((exponent, base) => {
      const signed = exponent.isNegative ? negateExpr(exponent.value) : exponent.value
      return { isNegative: base.isNegative, value: raiseBounded(base.value, signed) }
    }, last)
    return isNegative ? negateExpr(value) : value
  }

  #parseSigns(): boolean {
    let isNegative = false
    while (true) {
      const sign = this.#take('+', '-')
      if (sign === undefined) return isNegative
      if (sign === '-') isNegative = !isNegative
    }
  }

  #parseFactorial(): Expr {
    let value = this.#parsePrimary()
    const sign = this.#take('!', '!!')
    if (sign !== undefined) value = applyFunction(sign === '!' ? 'factorial' : 'factorial2', [value])
    return value
  }

  #parsePrimary(): Expr {
    const token = this.#tokens[this.#position++]
    if (token?.kind === 'number') return parseNumberToken(token.text)
    if (token?.kind === 'name') return this.#parseName(token.text)
    if (token?.text !== '(') throw new ExpressionSyntaxError('expected a value')
    const value = this.parseDisjunction()
    if (!this.#take(')')) throw new ExpressionSyntaxError('a bracket is not closed')
    return value
  }

  #parseName(name: string): Expr {
    if (KEYWORD_PATTERN.test(name)) throw new UnsupportedExpressionError('a word of Python')
    if (!this.#take('(')) return resolveName(name)
    const args: Expr[] = []
    while (!this.#take(')')) {
      if (args.length > 0 && !this.#take(',')) throw new ExpressionSyntaxError('a bracket is not closed')
      if (args.length > 0 && this.#take(')')) break
      args.push(this.parseDisjunction())
    }
    rejectTruthValues(args)
    this.#onCall?.(args)
    return applyFunction(name, args)
  }

  #take(...signs: string[]): string | undefined {
    const token = this.#tokens[this.#position]
    if (token?.kind !== 'operator' || !signs.includes(token.text)) return undefined
    this.#position++
    return token.text
  }

  #takeName(name: string): boolean {
    const token = this.#tokens[this.#position]
    if (token?.kind !== 'name' || token.text !== name) return false
    this.#position++
    return true
  }
}
