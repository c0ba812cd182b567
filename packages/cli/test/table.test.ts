import { stripVTControlCharacters } from 'node:util'
import { findSimilar } from '@reasoning-gym-server/contract/similar-names'
import { describe, expect, it } from 'vitest'
import { formatSuggestion } from '../src/error-advice.ts'
import { dropEmptyColumns, formatFacts, formatTable } from '../src/table.ts'

const lines = (text: string) => stripVTControlCharacters(text).split('\n')

describe('a table', () => {
  const head = ['suite', 'items', 'description']
  const rows = [
    ['easy', 5250, 'In the manner of the published evaluations'],
    ['smoke', 20, 'Quick'],
  ]

  it('aligns numbers to the right, also those with decimals and dashes', () => {
    expect(lines(formatTable(head, rows))).toEqual([
      'suite  items  description',
      '─────  ─────  ──────────────────────────────────────────',
      'easy    5250  In the manner of the published evaluations',
      'smoke     20  Quick',
    ])
    expect(
      lines(
        formatTable(
          ['a', 'score'],
          [
            ['x', '0.5'],
            ['y', null],
          ],
        ),
      ).slice(2),
    ).toEqual(['x    0.5', 'y      –'])
  })

  it('fits the width: text is truncated, numbers never are', () => {
    const fitted = lines(formatTable(head, rows, 30))
    expect(Math.max(...fitted.map((line) => [...line].length))).toBeLessThanOrEqual(30)
    expect(fitted[2]).toBe('easy    5250  In the manner o…')
  })

  it('loses columns from the right where even the numbers do not fit', () => {
    const numbers = [['a', 1000, 2000, 3000]]
    expect(lines(formatTable(['n', 'x', 'y', 'z'], numbers, 14))[2]).toBe('a  1000  2000')
  })

  it('leaves out columns without content', () => {
    expect(
      dropEmptyColumns(
        ['task', 'cut', 'score'],
        [
          ['gcd', 0, 0.5],
          ['lcm', null, 1],
        ],
      ),
    ).toEqual([
      ['task', 'score'],
      [
        ['gcd', 0.5],
        ['lcm', 1],
      ],
    ])
  })

  it('shows facts in two columns', () => {
    expect(
      lines(
        formatFacts([
          ['groups', 5],
          ['mean score', '0.667'],
        ]),
      ),
    ).toEqual(['groups      5', 'mean score  0.667'])
  })
})

describe('a suggestion', () => {
  const tasks = ['leg_counting', 'letter_counting', 'count_bits', 'gcd', 'lcm', 'sudoku', 'mini_sudoku']

  it('is the name with the fewest typing errors', () => {
    expect(findSimilar('leg_conting', tasks)).toEqual(['leg_counting'])
    expect(findSimilar('Leg-Counting', tasks)).toEqual(['leg_counting'])
    expect(findSimilar('gdc', tasks)).toEqual(['gcd'])
    expect(findSimilar('gamez', ['games', 'logic'])).toEqual(['games'])
  })

  it('completes the beginning of a name, such as that of an ID', () => {
    expect(findSimilar('eval-4ad2', ['eval-4ad297b1fabe092bf305', 'eval-e9ac86f364054a81e543'])).toEqual([
      'eval-4ad297b1fabe092bf305',
    ])
  })

  it('is not made where nothing is similar', () => {
    expect(formatSuggestion('zebra', tasks)).toBe('')
    expect(formatSuggestion('', tasks)).toBe('')
    expect(formatSuggestion('leg_countin', tasks)).toBe('Did you mean leg_counting?')
  })
})
