import { expect, it } from 'vitest'
import { tokenizeExpression } from '../src/expressions/tokens.ts'

const read = (text: string) => tokenizeExpression(text).map((token) => token.text)

it.each(['\n', '\r\n', '\r', '\\\r', '#\r'])('between brackets %j parts the words of an expression', (end) => {
  expect(read(`(7 *${end} 9)`)).toEqual(['(', '7', '*', '9', ')'])
})

it.each(['\n', '\r\n', '\r'])('outside of brackets nothing may follow %j', (end) => {
  expect(read(`7${end}`)).toEqual(['7'])
  expect(() => read(`7${end}+ 9`)).toThrow()
})

it.each([' ', '\n', '\r\n', '\r'])('after %j a sign of factorial stands for nothing', (gap) => {
  expect(() => read(`(7${gap}!)`)).toThrow()
})

it.each(['7 !\r', '7!\r', '7! \r', '7 !! !\r\r', '7!\\\r', '7! \\ \n', '\r!\r7'])(
  'in (%j) sympy forgets the factorial',
  (text) => {
    expect(read(`(${text})`)).toEqual(['(', '7', ')'])
  },
)

it.each(['\n', '\r\n', ' \n', '\\\n', '# 7\r'])('before %j a factorial counts', (end) => {
  expect(read(`(7!${end})`)).toContain('!')
})

it('a backslash joins lines: with a line feed into one, with what no tokenizer knows into a statement', () => {
  expect(read('7 \\\n!')).toEqual(['7', '!'])
  expect(read('2*\\\n*3')).toEqual(['2', '**', '3'])
  expect(read('2 +\\\r3')).toEqual(['2', '+', '3'])
  expect(read('2*\\\r*3')).toEqual(['2', '*', '*', '3'])
})

it.each(['\0', '\ud800'])('what holds %j is no Python, even in a comment', (sign) => {
  expect(() => read(`7 # ${sign}`)).toThrow()
})
