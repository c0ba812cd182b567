/** Words, letters and lists of words: what must be used, and in which order. */
import { codePoints, lower, splitWhitespace, strip } from '../python/text.ts'
import { isTextList, jsonAnswer, patternAnswer } from './forms.ts'
import {
  brokenRule,
  count,
  createMultisetCheck,
  type Explainer,
  findDisorder,
  findMisfit,
  formatFault,
  quote,
  readPart,
  textAfter,
  type Violation,
} from './violation.ts'

/** A broken rule where a word does not have the letters of another. */
function checkLetters(given: string, wanted: string, where?: { item: number }): Violation | undefined {
  return given !== wanted && sortLetters(given) !== sortLetters(wanted)
    ? brokenRule(`${quote(given)} does not have the letters of ${quote(wanted)}.`, where)
    : undefined
}

function sortLetters(text: string): string {
  return codePoints(lower(text)).sort().join('')
}

export const letterJumble: Explainer = (question) => {
  const scrambled = splitWhitespace(textAfter(question, 'unscramble these words: '))
  return (answer) => {
    const words = splitWhitespace(answer)
    if (words.length !== scrambled.length)
      return brokenRule(`The sentence has ${count(scrambled.length, 'word')}, but the answer has ${words.length}.`)
    for (const [i, word] of words.entries()) {
      const broken = checkLetters(word, scrambled[i] ?? '', { item: i + 1 })
      if (broken) return broken
    }
    return undefined
  }
}

export const spellBackward: Explainer = (question) => {
  const word = strip(readPart(question, /: (\S+)\s*$/))
  return patternAnswer(/^\S+$/, 'one word', (text) => checkLetters(text, word))
}

export const palindromeGeneration: Explainer = (question) => {
  const checkAll = createMultisetCheck(strip(textAfter(question, 'following letters: ')).split(', '), 'letter')
  return patternAnswer(/^[a-z]+$/, 'one string of lowercase letters', (text) => {
    const given = [...text]
    const at = given.findIndex((letter, i) => letter !== given.at(-1 - i))
    if (at >= 0)
      return brokenRule(
        `It does not read the same backwards: letter ${at + 1} is ${given[at]}, and letter ${given.length - at} is ${given.at(-1 - at)}.`,
        { item: at + 1 },
      )
    return checkAll(given)
  })
}

export const palindromePartitioning: Explainer = (question) => {
  const text = strip(textAfter(question, 'string into palindromes: '))
  return jsonAnswer('a JSON list of lists of strings', (value) => {
    if (!Array.isArray(value) || !value.every(isTextList)) return 'other'
    return checkPartitions(value, text)
  })
}

function checkPartitions(partitions: readonly string[][], text: string): Violation {
  const seen = new Set<string>()
  for (const [i, parts] of partitions.entries()) {
    const where = { item: i + 1 }
    if (parts.join('') !== text)
      return brokenRule(`The parts of partition ${i + 1} do not join to ${quote(text)}.`, where)
    const odd = parts.find((part) => part !== [...part].reverse().join(''))
    if (odd !== undefined) return brokenRule(`${quote(odd)} in partition ${i + 1} is not a palindrome.`, where)
    const name = parts.join('\n')
    if (seen.has(name)) return brokenRule(`Partition ${i + 1} repeats an earlier one.`, where)
    seen.add(name)
  }
  return brokenRule('Not all partitions are in the list.')
}

export const sentenceReordering: Explainer = (question) => {
  const check = createMultisetCheck(splitWhitespace(textAfter(question, 'words in the following sentence: ')), 'word')
  return (answer) => check(splitWhitespace(answer))
}

export const wordReversal: Explainer = (question) => {
  const check = createMultisetCheck(strip(textAfter(question, 'this list of words: ')).split(', '), 'word')
  return (answer) => {
    const given = strip(answer).split(', ')
    const form = 'The words must be separated by a comma and a space'
    return findMisfit(given, (word) => /^[^\s,]+$/.test(word), form, 'word') ?? check(given)
  }
}

export const wordSorting: Explainer = (question) => {
  const direction = readPart(question, /sort these words in (ascending|descending) order/)
  const words = strip(textAfter(question, 'comma-separated list: ')).split(', ')
  const check = createMultisetCheck(words, 'word')
  return (answer) => {
    const given = answer.split(',').map((word) => strip(word))
    if (given.length === 1 && words.length > 1)
      return formatFault(`The answer must be a list with commas, but it is ${quote(answer)}.`)
    if (given.includes('')) return formatFault('The answer has a comma without a word before or after it.')
    // words are ordered by code points; UTF-16 agrees with them in the words that the library has
    return check(given) ?? findDisorder(given, direction, (a, b) => (direction === 'ascending' ? a > b : a < b))
  }
}

export const groupAnagrams: Explainer = (question) => {
  const words = JSON.parse(strip(textAfter(question, 'list of words into anagrams:'))) as string[]
  const check = createMultisetCheck(words, 'word')
  return jsonAnswer('a JSON list of lists of strings', (value) =>
    isListOfTextLists(value) ? (withoutPlace(check(value.flat())) ?? checkGroups(value)) : 'other',
  )
}

function isListOfTextLists(value: unknown): value is string[][] {
  return Array.isArray(value) && value.every(isTextList)
}

/** Places in a list of groups count groups. */
function withoutPlace(violation: Violation | undefined): Violation | undefined {
  return violation && brokenRule(violation.text)
}

function checkGroups(groups: readonly string[][]): Violation | undefined {
  const known = new Map<string, { group: number; word: string }>()
  for (const [i, group] of groups.entries()) {
    for (const word of group) {
      const [first = word] = group
      const letters = [...word].toSorted().join('')
      if (letters !== [...first].toSorted().join(''))
        return brokenRule(`${quote(word)} in group ${i + 1} is not an anagram of ${quote(first)}.`, { item: i + 1 })
      const other = known.get(letters)
      if (other && other.group !== i)
        return brokenRule(`${quote(word)} and ${quote(other.word)} are anagrams, but stand in two groups.`, {
          item: i + 1,
        })
      known.set(letters, { group: i, word })
    }
    if (group.length === 0) return brokenRule(`Group ${i + 1} is empty.`, { item: i + 1 })
  }
  return undefined
}

const OPPOSITES = new Set(['A# #A', 'A# #B', 'B# #A', 'B# #B'])

export const abPrograms: Explainer = (question) => {
  const program = strip(readPart(question, /consider the following program:\n\n(.*)\n/)).split(' ')
  return (answer) => {
    const tokens = strip(answer) === '' ? [] : strip(answer).split(' ')
    const form = 'The answer must be tokens with one space between them'
    const misfit = findMisfit(tokens, (token) => /^(?:[AB]#|#[AB])$/.test(token), form, 'token')
    if (misfit) return misfit
    const at = tokens.findIndex((token, i) => OPPOSITES.has(`${tokens[i - 1]} ${token}`))
    if (at > 0)
      return brokenRule(`Tokens ${at} and ${at + 1} (${tokens[at - 1]} ${tokens[at]}) still must be rewritten.`, {
        item: at + 1,
      })
    return tokens.length > program.length
      ? brokenRule('A rule never adds tokens, but the answer has more than the program.')
      : undefined
  }
}
