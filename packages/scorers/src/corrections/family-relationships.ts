/** family_relationships: nieces, nephews and children-in-law are named by the person asked about. */
import { z } from 'zod'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({ person1: z.string(), relationship: z.string() })
const Names = z.looseObject({ male_names: z.array(z.string()), female_names: z.array(z.string()) })

/** What the first person is, where the library names the second one: a woman's word, then a man's. */
const WORDS: Readonly<Record<string, readonly [ofWoman: string, ofMan: string]>> = {
  niece: ['niece', 'nephew'],
  nephew: ['niece', 'nephew'],
  'mother-in-law': ['daughter-in-law', 'son-in-law'],
  'father-in-law': ['daughter-in-law', 'son-in-law'],
}

export const familyRelationships: Correction = {
  reason:
    'A daughter-in-law or son-in-law is called by what the other person is to her or him; nieces and nephews are ' +
    "named by the other person's sex.",
  keys({ entry, config }) {
    const { person1, relationship } = Metadata.parse(entry.metadata)
    const { male_names: male, female_names: female } = Names.parse(config)
    return WORDS[relationship]?.filter((_, k) => (k === 0 ? female : male).includes(person1))
  },
}
