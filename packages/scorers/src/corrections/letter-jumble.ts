/** The correction of letter_jumble: without a sentence around it, a jumble may stand for several words. */
import { z } from 'zod'
import { lower } from '../python/text.ts'
import type { Correction } from './correction.ts'

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
