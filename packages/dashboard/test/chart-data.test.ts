import { expect, it } from 'vitest'
import { chartData } from './pure.ts'

const { smooth, isSameLine, canBeLogarithmic, toCsv } = chartData

it('a moving average starts at the first value, keeps gaps, and stays where the values stay', () => {
  expect(smooth([0.5, null, 0.5], 0.9)).toEqual([0.5, null, expect.closeTo(0.5)])
  expect(smooth([1, 0], 0.5)).toEqual([1, expect.closeTo(1 / 3)]) // 0.25 of 0.75
  const raw = [1, 2, 3]
  expect(smooth(raw, 0)).toBe(raw)
})

it('lines coincide only if every value and every gap does', () => {
  expect(isSameLine([1, null, 2], [1, null, 2])).toBe(true)
  expect(isSameLine([1, null], [1, 2])).toBe(false)
  expect(isSameLine([1, 2], [1, 2.1])).toBe(false)
  expect(isSameLine([null], [null])).toBe(false)
})

it('a logarithmic axis takes values above 0', () => {
  expect(canBeLogarithmic([{ name: 'a', values: [1, null, 10] }])).toBe(true)
  expect(canBeLogarithmic([{ name: 'a', values: [1, 0] }])).toBe(false)
  expect(canBeLogarithmic([{ name: 'a', values: [null] }])).toBe(false)
})

it('CSV quotes names and leaves gaps empty', () => {
  const csv = toCsv([
    { name: 'step', values: [0, 1] },
    { name: 'a, "b"', values: [0.5, null] },
  ])
  expect(csv).toBe('step,"a, ""b"""\n0,0.5\n1,\n')
})
