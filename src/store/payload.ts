/** A group in parts: a small record, its texts, its arrays. What scores or looks does not read the tokens. */
import { z } from 'zod'
import { type Measured, measured } from '../scoring/lengths.ts'
import type { GroupInput, Rollout } from '../words/rollout.ts'

/** The small record. */
export interface About {
  item_id: string
  /** Oldest version of the policy that wrote a rollout; null if none is known. */
  policy_version: number | null
  rollouts: Measured[]
}

export interface Packed {
  about: string
  texts: Buffer
  /** Empty if there are none. */
  arrays: Buffer
}

/** How arrays leave: as JSON numbers, or typed in base64. */
export const ArrayStyle = z.enum(['numbers', 'base64'])
export type ArrayStyle = z.infer<typeof ArrayStyle>

type Texts = Omit<Rollout, 'tokens' | 'masks' | 'logprobs' | 'arrays'>
export interface GroupTexts {
  extra?: unknown
  rollouts: Texts[]
}

export function pack({ item_id, extra, policy_version, rollouts }: GroupInput): Packed {
  const versions = rollouts.map((rollout) => rollout.policy_version ?? policy_version).filter((v) => v !== undefined)
  const about: About = {
    item_id,
    policy_version: versions.length === 0 ? null : Math.min(...versions),
    rollouts: rollouts.map(measured),
  }
  const parts = rollouts.map(({ tokens, masks, logprobs, arrays, ...texts }) => ({
    texts,
    arrays: { tokens, masks, logprobs, arrays },
  }))
  const texts: GroupTexts = { extra, rollouts: parts.map((part) => part.texts) }
  return {
    about: JSON.stringify(about),
    texts: Buffer.from(JSON.stringify(texts)),
    arrays: Buffer.from(JSON.stringify(parts.map((part) => part.arrays))),
  }
}

export function unpackAbout(about: string | Buffer): About {
  return JSON.parse(about.toString()) as About // written by pack
}

export function unpackTexts(texts: Buffer): GroupTexts {
  return JSON.parse(texts.toString()) as GroupTexts // written by pack
}

/** The chosen rollouts of a group as JSON documents, in order, as they were sent. */
export function* rolloutDocuments(
  texts: Buffer,
  arrays: Buffer | null,
  indices: number[],
  _style: ArrayStyle,
): Generator<string> {
  const columns = arrays === null ? [] : (JSON.parse(arrays.toString()) as object[]) // written by pack
  const { rollouts } = unpackTexts(texts)
  for (const k of indices) yield JSON.stringify({ ...rollouts[k], ...columns[k] })
}
