/** The files under deploy/, read and parsed. */
import { readdirSync, readFileSync } from 'node:fs'
import { parse, parseAllDocuments } from 'yaml'

export const ROOT = new URL('../../', import.meta.url)

export const text = (path: string) => readFileSync(new URL(path, ROOT), 'utf8')
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails where it is not there
export const yaml = (path: string): any => parse(text(path), { merge: true })

export interface Manifest {
  file: string
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string> }
  // biome-ignore lint/suspicious/noExplicitAny: as above
  spec?: any
  data?: Record<string, string>
  stringData?: Record<string, string>
}

/** Every object of deploy/kubernetes. */
export function manifests(): Manifest[] {
  const files = readdirSync(new URL('deploy/kubernetes', ROOT)).filter((file) => file.endsWith('.yaml'))
  return files.flatMap((file) =>
    parseAllDocuments(text(`deploy/kubernetes/${file}`)).map((document) => ({ file, ...document.toJS() }) as Manifest),
  )
}

/** Each place in a document where something stands, as the way to it. */
export function placesIn(value: unknown, way: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return way.length > 0 ? [way] : []
  const inside = Object.entries(value).flatMap(([key, part]) =>
    placesIn(part, [...way, Array.isArray(value) ? Number(key) : key]),
  )
  return way.length > 0 ? [way, ...inside] : inside
}

/** A copy with something else in that place. */
export function changed<T>(document: T, way: (string | number)[], value: unknown): T {
  const copy = structuredClone(document)
  // biome-ignore lint/suspicious/noExplicitAny: a walk along a known way
  let at: any = copy
  for (const key of way.slice(0, -1)) at = at[key]
  at[way.at(-1) ?? ''] = value
  return copy
}
