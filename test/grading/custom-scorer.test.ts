import { expect, it } from 'vitest'
import { toPlainValue } from '../../src/grading/custom-scorer.ts'

it('gives metadata to a scorer as JavaScript has it', () => {
  const typed = {
    whole: { $float: '2.0' },
    endless: [{ $float: 'inf' }, { $float: '-inf' }, { $float: 'nan' }],
    large: [{ $int: '0x100000000000000000' }, { $int: '-0x20000000000000' }],
    pair: { $tuple: [1, { $set: ['a'] }] },
    byNumber: { $dict: [[1, { $tuple: [2] }]] },
    third: { $fraction: ['0x1', '0x3'] },
    day: { $date: '2022-01-01' },
    plain: { a: null, b: [true, 'x'] },
    empty: {},
  }
  expect(toPlainValue(typed)).toEqual({
    whole: 2,
    endless: [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN],
    large: [2n ** 68n, -(2n ** 53n)],
    pair: [1, ['a']],
    byNumber: new Map([[1, [2]]]),
    third: '1/3',
    day: '2022-01-01',
    plain: { a: null, b: [true, 'x'] },
    empty: {},
  })
})
