/** Records answers of a live server as the response examples of the OpenAPI document: routes/response-examples.json. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { formatJson } from '../../scripts/format-json.ts'
import type { ResponseExamples } from '../../src/http/openapi/response-examples.ts'

const FILE = new URL('../../routes/response-examples.json', import.meta.url)
const FILE_WIDTH = 120

/** Characters of an example's JSON; the first cut that fits is taken, else the shortest. */
const EXAMPLE_LENGTH = 600
const CUTS: readonly Cut[] = [
  { elements: 2, innerElements: 2, characters: 240 },
  { elements: 2, innerElements: 2, characters: 100 },
  { elements: 1, innerElements: 1, characters: 100 },
  { elements: 1, innerElements: 1, characters: 60, optional: 8 },
  { elements: 1, innerElements: 1, characters: 60, optional: 2 },
]

interface Cut {
  /** Of a list or map near the top. */
  elements: number
  /** Of deeper ones. */
  innerElements: number
  characters: number
  /** Properties of a deeper object that are not required. */
  optional?: number
}

type Schema = Record<string, unknown>

const ajv = new Ajv2020({ strict: false, validateFormats: false })

export function readResponseExamples(): ResponseExamples {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as ResponseExamples) : {}
}

export function writeResponseExamples(examples: ResponseExamples): void {
  const sorted = Object.fromEntries(Object.entries(examples).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(FILE, `${formatJson(sorted, FILE_WIDTH)}\n`)
}

export function isValidResponse(body: unknown, schema: object): boolean {
  return ajv.validate(schema, body)
}

/** The answer with at most a few elements of each list and map and the beginning of each text, valid against the schema. */
export function trimResponse(body: unknown, schema: object): unknown {
  const trimmed = CUTS.map((cut) => trim(body, [schema as Schema], cut, 0)).filter((one) =>
    isValidResponse(one, schema),
  )
  const fitting = trimmed.find((one) => JSON.stringify(one).length <= EXAMPLE_LENGTH)
  return fitting ?? trimmed.at(-1) ?? body
}

/** `schemas` are those that the value may have. */
function trim(value: unknown, schemas: Schema[], cut: Cut, depth: number): unknown {
  const elements = depth < 2 ? cut.elements : cut.innerElements
  if (typeof value === 'string') {
    const isProse = value.includes(' ') // unlike a hash or an ID
    return value.length > cut.characters && isProse ? `${value.slice(0, cut.characters - 1)}…` : value
  }
  const possible = schemas.flatMap(listMembers)
  if (Array.isArray(value)) {
    const items = possible.flatMap((one) => (isObject(one.items) ? [one.items] : []))
    return (value.some(isNotNumber) ? value.slice(0, elements) : value.slice(0, 2)).map((one) =>
      trim(one, items, cut, depth + 1),
    )
  }
  if (!isObject(value)) return value
  const known = possible.flatMap((one) => Object.keys((one.properties as object | undefined) ?? {}))
  const required = new Set(possible.flatMap((one) => (one.required as string[] | undefined) ?? []))
  let [extra, optional] = [0, 0]
  const kept = Object.entries(value).filter(([key]) => {
    if (required.has(key)) return true
    return known.includes(key)
      ? optional++ < (depth > 0 ? (cut.optional ?? Infinity) : Infinity)
      : extra++ < (depth > 0 ? cut.innerElements : elements)
  })
  return Object.fromEntries(
    kept.map(([key, inner]) => {
      const ofKey = possible.flatMap(({ properties, additionalProperties }) => {
        const schema = (properties as Record<string, unknown> | undefined)?.[key] ?? additionalProperties
        return isObject(schema) ? [schema] : []
      })
      return [key, trim(inner, ofKey, cut, depth + 1)]
    }),
  )
}

function listMembers(schema: Schema): Schema[] {
  const members = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((one) => (Array.isArray(one) ? one : []))
  return [schema, ...members.filter(isObject).flatMap(listMembers)]
}

/** An interval keeps both its ends. */
function isNotNumber(value: unknown): boolean {
  return typeof value !== 'number'
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
