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

const Figlet = z.looseObject({ font: z.string() })
/** Other signs stand where letters should be, or nothing. */
const FONTS_WITHOUT_LETTERS = new Set(['b_m__200', 'home_pak', 'runic', 'stencil2'])
/** The letters of a font that look the same. */
const LOOKALIKES: ReadonlyMap<string, RegExp> = new Map([
  ['smisome1', /[DO]/i],
  ['test1', /[CE]/i],
])

export const figletFont: Correction = {
  reason: 'In some fonts two letters look the same, or other signs stand where letters should be.',
  hasRightAnswer: ({ answer, metadata }) => {
    const { font } = Figlet.parse(metadata)
    return !FONTS_WITHOUT_LETTERS.has(font) && !LOOKALIKES.get(font)?.test(answer ?? '')
  },
}

/** Common English words of the same letters, at least one of which stands in the library's text. */
const FAMILIES =
  'able bale|act cat|acts cast cats scat|ages sage|agree eager|among mango|any nay|are ear era|arise raise' +
  '|art rat tar|ate eat tea eta|bad dab|bed deb|being begin binge|below elbow bowel|but tub|came mace acme' +
  '|case aces|cause sauce|center recent|cold clod|cost scot|costs scots|could cloud|course source|cried cider' +
  '|danger garden gander ranged|dates sated stead|deal lead dale lade|dear read dare|demand damned' +
  '|direct credit|disk skid kids|does dose|done node|door odor|early layer relay|earth heart hater' +
  '|eastern earnest nearest|end den|english shingle|enters nester|except expect|fibers briefs|files flies' +
  '|flesh shelf|for fro|forces fresco|forth froth|free reef|freed defer|from form|has ash|heads shade|hear hare' +
  '|heat hate|horses shores|how who|idea aide|ideas aside aides|inside indies|its sit|keep peek|knob bonk' +
  '|lacks slack|laid dial|lake leak|large lager regal glare|last salt slat|late tale teal|later alert alter' +
  '|law awl|laws slaw|leap pale plea peal|learn renal|lease easel|least steal stale slate tales|left felt' +
  '|license silence|life file|links slink|lips slip lisp|list slit silt|listen silent enlist tinsel' +
  '|live evil veil vile|lived devil|made dame mead|maid amid|mars arms rams|may yam|meal male lame' +
  '|means names manes|meet teem|mile lime|miles slime smile limes|mode dome|mood doom|moon mono|moral molar' +
  '|more rome|much chum|must smut|name mean mane amen|near earn|needs dense|never nerve|news sewn|no on' +
  '|north thorn|not ton|note tone|now own won|ocean canoe|once cone|open nope peon|optical topical' +
  '|optics topics|ours sour|over rove|owns snow sown|page gape|part trap rapt tarp|parts traps strap' +
  '|please asleep elapse|poles slope|posted despot|present serpent|pressed depress|quite quiet|race care acre' +
  '|rate tear tare|real earl|remain marine|remote meteor|right girth|room moor|rose sore|rub bur|run urn' +
  '|saint satin stain|same seam mesa|saw was|secure rescue|sent nest nets tens|setting testing|severed deserve' +
  '|share shear|south shout|space capes|star rats tsar arts|state taste|stone onset notes tones' +
  '|stored sorted strode|stream master|study dusty|table bleat|take teak|takes stake skate steak|tap pat apt' +
  '|ten net|there three ether|these sheet|thing night|things nights|thus shut|till lilt|time item emit mite' +
  '|times items emits smite mites|tired tried|today toady|told dolt|tour rout|trace crate react cater|turn runt' +
  '|two tow|united untied|use sue|user sure ruse|using suing|war raw|ways sway|went newt|west stew|what thaw' +
  '|wires wiser|words sword|wrap warp'

/** By its letters in order, the words of each family. */
const FAMILY_BY_LETTERS = new Map(
  FAMILIES.split('|')
    .map((family) => family.split(' '))
    .map((words) => [sortLetters(words[0] ?? ''), words]),
)
/** Names and abbreviations of the library's text that their letters do not give away. */
const NAMES = new Set(['EIN', 'Faithburn', 'Granton', 'Kara', 'Korum', 'Nier', 'PG', 'PGLAF', 'Wolcott'])
/** From so many words on, the others tell which is meant. */
const WORDS_OF_CONTEXT = 3

const Jumble = z.looseObject({ scrambled_words: z.array(z.string()), original_words: z.array(z.string()) })

export const letterJumble: Correction = {
  reason: 'Some words are not scrambled, or are ambiguous: "nwo" alone has three readings, and "Korum" is a name.',
  hasRightAnswer({ metadata }) {
    const { scrambled_words: scrambled, original_words: original } = Jumble.parse(metadata)
    const changed = original.filter((word, i) => word !== scrambled[i])
    if (changed.length === 0 || changed.some((word) => NAMES.has(word))) return false
    return original.length >= WORDS_OF_CONTEXT || !original.some(hasSibling)
  },
}

/** Whether another common word has the same letters: a capital letter must begin it, too. */
function hasSibling(word: string): boolean {
  const [folded, tail] = [lower(word), word.slice(1)]
  const siblings = FAMILY_BY_LETTERS.get(sortLetters(folded))?.filter((other) => other !== folded) ?? []
  const isTitle = word !== folded && tail === lower(tail)
  return isTitle ? siblings.some((other) => other[0] === folded[0]) : siblings.length > 0
}

function sortLetters(text: string): string {
  return [...text].toSorted().join('')
}
