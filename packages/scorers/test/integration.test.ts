import { describe, expect, it } from 'vitest'
import { PARTIAL_SCORERS } from '../src/native-scorers.ts'

function score(integrand: string, answer: string, variable = 'x'): number | undefined {
  return PARTIAL_SCORERS.intermediate_integration?.({ question: '', answer: null, metadata: { integrand, variable } })(
    answer,
  )
}

describe('an antiderivative is scored without sympy where the verdict is certain', () => {
  it.each([
    ['-42*X**5 - 2', '-7*X**6 - 2*X + C', 'X'],
    ['-42*X**5 - 2', '-2*(X + 3*X**6 + X**6/2)', 'X'],
    ['15*x**5 + 2*x', '2.5*x**6 + x**2 + C'],
    ['4*x**4', '0.8*x**5'],
    ['6*(3*x - 1)**5', '(3*x - 1)**6/3 + C'],
    ['-x**3*sin(x)', 'x**3*cos(x) - 3*x**2*sin(x) - 6*x*cos(x) + 6*sin(x) + C'],
    ['-3*x**3*exp(x)', '-3*E**x*(x**3 - 3*x**2 + 6*x - 6) + k'],
    ['9*sqrt(3*x - 1)', '2*(3*x - 1)**(3/2) + C'],
    ['9*sqrt(3*x - 1)', '2*(3*x - 1)*sqrt(3*x - 1) + C'],
    ['asin(2*x)', 'x*asin(2*x) + sqrt(1 - 4*x**2)/2 + C'],
    ['3*atan(3*x)', '3*x*atan(3*x) - log(9*x**2 + 1)/2 + C'],
    ['log(x)', 'x*ln(x) - x + C'],
    ['log(x)', 'x*ln(x) - x + C1'],
    ['-15*sin(5*x + 9)*cos(5*x + 9)', '(3/4)*cos(10*x + 18) + C'],
  ])('∫ %s: %s is right', (integrand, answer, variable = 'x') => {
    expect(score(integrand, answer, variable)).toBe(1)
  })

  it.each([
    '-7*x**6 - 2*x + C',
    '-7*X**6 - 3*X + C',
    '-7*X^6 - 2*X',
    '-7X**6 - 2X',
    '-7*X**6 - 2.0001*X',
    '-7*X**6 - \\frac{4}{2}*X',
    'F = -7*X**6 - 2*X',
    '-7*X(X**5) - 2*X',
    '-7*X**6 - 2*sin',
    '−7*X**6 − 2*X',
    'arcsin(X)',
    '-7*X*b6 - 2*X',
    '-7*X**6 - 2*oin(X)',
    'The answer is -7*X**6 - 2*X',
    '<answer>-7*X**6 - 2*X</answer>',
    '-7*X**6 - 2*X\n\nThis is the result.',
    'C',
    '',
  ])('%j is wrong', (answer) => {
    expect(score('-42*X**5 - 2', answer, 'X')).toBe(0)
  })

  it.each([
    ['numbers whose angle sympy does not double', '8*sin(8*x - 10)*cos(8*x - 10)', '-cos(16*x - 20)/4'],
    ['an identity', '8*sin(8*x + 2)**2*cos(8*x + 2)', 'cos(8*x - pi/2 + 2)**3/3'],
    ['a decimal within rounding', '25*x**4/3', '1.66666666667*x**5'],
    ['a branch', '1', 'sqrt(x**2)'],
    ['a quoted answer', '1', '"x"'],
    ['a part that Python may not evaluate', '1', 'x or (2'],
    ['a long name that sympy may know', '1', 'x + gamma(1)'],
    ['a short name that sympy knows', '1', 'x + det(1)'],
    ['words that Python may know', '1', 'x if C'],
    ['what is no value there', '1', 'x + 0*log(0)'],
    ['an answer too long for the library', '1', `x${' '.repeat(17_000)}`],
  ])('%s is left to the library', (_, integrand, answer) => {
    expect(score(integrand, answer)).toBeUndefined()
  })
})

/** `first` and further terms, up to `length` characters. */
function lengthen(first: string, length: number, formatTerm: (k: number) => string): string {
  let text = first
  for (let k = 1; text.length + formatTerm(k).length <= length; k++) text += formatTerm(k)
  return text
}

describe('a long antiderivative', () => {
  it('is wrong without sympy', () => {
    expect(
      score(
        '2*x',
        lengthen('x**2', 4000, (k) => ` + x**${k + 5}/${k}`),
      ),
    ).toBe(0)
    expect(
      score(
        '2*x',
        lengthen('We', 4000, () => ' integrate by parts'),
      ),
    ).toBe(0)
  })

  it('is left to the library if it may be right, or is longer still', () => {
    expect(
      score(
        '2*x',
        lengthen('x**2', 990, (k) => ` + ${k}`),
      ),
    ).toBe(1)
    expect(
      score(
        '2*x',
        lengthen('x**2', 1100, (k) => ` + ${k}`),
      ),
    ).toBeUndefined()
    expect(
      score(
        '2*x',
        lengthen('x**2', 4100, (k) => ` + x**${k + 5}/${k}`),
      ),
    ).toBeUndefined()
  })
})
