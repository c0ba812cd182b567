/** Corrections of tasks on words, letters and sentences. */
import { z } from 'zod'
import { lower, splitWhitespace } from '../python/text.ts'
import { type DatasetEntry, requireOracleAnswer } from '../scorer.ts'
import type { Correction } from './correction.ts'

const SCRAMBLED_SENTENCE = 'Restore the correct order of words in the following sentence: '

export const sentenceReordering: Correction = {
  reason: 'The key puts equal words side by side, and a short sentence may be shuffled into its own order.',
  hasRightAnswer({ question, answer }) {
    const words = splitWhitespace(question.slice(SCRAMBLED_SENTENCE.length))
    return new Set(words).size === words.length && words.join(' ') !== answer
  },
  // Letter case is forgiven, but not where it hides that two words such as "The" and "the" are in each other's place.
  decide({ entry }) {
    const wanted = splitWhitespace(requireOracleAnswer(entry))
    const sorted = wanted.toSorted().join(' ')
    const folded = lower(wanted.join(' '))
    return (answer) => {
      const given = splitWhitespace(answer)
      if (given.length !== wanted.length || lower(given.join(' ')) !== folded) return undefined
      return given.join(' ') !== wanted.join(' ') && given.toSorted().join(' ') === sorted ? false : undefined
    }
  },
}

const LetterCount = z.looseObject({ span: z.array(z.string()), target_letter: z.string() })
const ASCII_PATTERN = /^[ -~]*$/
const ACCENT_PATTERN = /\p{M}/gu

export const letterCounting: Correction = {
  reason: 'The question does not say that capital letters count and that accented letters do not.',
  clarification({ metadata }) {
    const { span, target_letter: letter } = LetterCount.parse(metadata)
    const text = span.join(' ')
    const folded = text.toLowerCase()
    const parts = [
      countOf(text, letter) === countOf(folded, letter) ? [] : 'capital and small letters count alike',
      countOf(folded, letter) === countOf(withoutAccents(folded), letter)
        ? []
        : 'letters with accents are other letters',
    ].flat()
    return parts.length > 0 ? `Note: ${parts.join(', and ')}.` : undefined
  },
}

function countOf(text: string, letter: string): number {
  return text.split(letter).length - 1
}

function withoutAccents(text: string): string {
  return ASCII_PATTERN.test(text) ? text : text.normalize('NFD').replaceAll(ACCENT_PATTERN, '')
}

const SortedWords = z.looseObject({ transformed_words: z.array(z.string()), sorted_words: z.array(z.string()) })

export const wordSorting: Correction = {
  reason: 'A short list may be sorted already.',
  hasRightAnswer({ metadata }) {
    const { transformed_words: given, sorted_words: sorted } = SortedWords.parse(metadata)
    return given.join('\n') !== sorted.join('\n')
  },
}

const PalindromeLetters = z.looseObject({ letters: z.array(z.string()) })

export const palindromeGeneration: Correction = {
  reason: 'The letters of a short palindrome may be listed in the order of one.',
  hasRightAnswer({ metadata }) {
    const { letters } = PalindromeLetters.parse(metadata)
    return letters.join('') !== letters.toReversed().join('')
  },
}

const Word = z.looseObject({ word: z.string() })

export const spellBackward: Correction = {
  reason: 'A palindrome such as "level" is its own answer.',
  hasRightAnswer({ metadata, answer }) {
    const { word } = Word.parse(metadata)
    return lower(word) !== lower(answer ?? '')
  },
}

const WordList = z.looseObject({ words: z.array(z.string()) })

export const wordSequenceReversal: Correction = {
  reason: 'A short list in which a word is drawn twice may be its own reversal.',
  hasRightAnswer({ metadata, answer }) {
    const { words } = WordList.parse(metadata)
    return words.join(', ') !== answer
  },
}

const Cipher = z.looseObject({ cipher_text: z.string(), rotation: z.int() })

export const caesarCipher: Correction = {
  reason: 'The cipher replaces the accented letter of "AËRIAL" by a plain one, so the key cannot be decrypted.',
  keys: ({ entry }) =>
    /^[A-Z ]*$/.test(requireOracleAnswer(entry)) ? undefined : [decrypt(Cipher.parse(entry.metadata))],
}

function decrypt({ cipher_text, rotation }: z.infer<typeof Cipher>): string {
  return cipher_text.replaceAll(/[A-Z]/g, (letter) =>
    String.fromCharCode(((letter.charCodeAt(0) - 65 - rotation + 26) % 26) + 65),
  )
}

const Emoji = z.looseObject({ emoji: z.string() })

export const emojiMystery: Correction = {
  reason: 'The hint decodes a part of the red heart into the sentence, and the key insists on double spaces.',
  hasRightAnswer: ({ metadata }: DatasetEntry) => [...Emoji.parse(metadata).emoji].length === 1,
  decide({ entry }) {
    const wanted = splitWhitespace(requireOracleAnswer(entry)).join(' ')
    return (answer) => (splitWhitespace(answer).join(' ') === wanted ? true : undefined)
  },
}
