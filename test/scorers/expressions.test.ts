import { expect, it } from 'vitest'
import { tokensOf } from '../../src/scorers/expressions/tokens.ts'

const read = (text: string) => tokensOf(text).map((token) => token.text)

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
