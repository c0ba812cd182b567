/**
 * Stored records: the fields of a hash in Redis, declared once. The names that Lua scripts use, the parsed form of a read,
 * the fields that are metrics and the part of a checkpoint that holds the record are derived from the declaration.
 */
import { z } from 'zod'

interface FieldUse {
  /** Exported as a metric of the record's owner. */
  metric?: true
  /** Part of a checkpoint. */
  checkpoint?: true
  /** Not part of the owner's state after a step: a rewind leaves it as it is. */
  kept?: true
}

/** Numbers: a count, a sum of decimals, a time in ms, a place in an order. */
type NumberField = FieldUse & { kind: 'counter' | 'sum' | 'timestamp' | 'cursor' }
/** One number for each name: the field is the prefix followed by the name. */
type FamilyField = FieldUse & { kind: 'counters' | 'sums' | 'timestamps'; prefix: string; names: RegExp }
/** Any text, or what the schema allows. */
type TextField<T extends string> = FieldUse & { kind: 'text'; schema?: z.ZodType<T> }
type JsonField<T> = FieldUse & { kind: 'json'; schema: z.ZodType<T> }

type Field = NumberField | FamilyField | TextField<string> | JsonField<unknown>
type Fields = Readonly<Record<string, Field>>

type FieldValue<F extends Field> = F extends FamilyField
  ? Record<string, number>
  : F extends JsonField<infer T>
    ? T
    : F extends { kind: 'text'; schema: z.ZodType<infer T> }
      ? T
      : F extends TextField<string>
        ? string
        : number

/** A field that is not stored is undefined; a family is always there. */
type RecordValues<F extends Fields> = {
  [N in keyof F as F[N] extends FamilyField ? N : never]: FieldValue<F[N]>
} & {
  [N in keyof F as F[N] extends FamilyField ? never : N]?: FieldValue<F[N]>
}
/** Any part of a record. */
type RecordInput<F extends Fields> = { [N in keyof F]?: FieldValue<F[N]> | undefined }
type CheckpointNames<F extends Fields> = { [N in keyof F]: F[N] extends { checkpoint: true } ? N : never }[keyof F]
/** The part of a record that is in a checkpoint. */
type CheckpointValues<F extends Fields> = { [N in CheckpointNames<F>]?: FieldValue<F[N]> | undefined }

/** Constants for a script that reads or writes JSON of a schema: each field by its name. */
export function listJsonFields<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
): { [N in keyof Shape]: string } {
  const names = Object.keys(schema.shape).map((name) => [name, name])
  return Object.fromEntries(names) as { [N in keyof Shape]: string } // one for each field
}

export class RecordDeclaration<const F extends Fields> {
  readonly #fields: [keyof F & string, Field][]
  /** Constants for a script: each field, and the prefix of each family, by its name. */
  readonly constants: { readonly [N in keyof F]: string }
  readonly kept: string[]
  readonly checkpointSchema: z.ZodType<CheckpointValues<F>>

  constructor(fields: F) {
    this.#fields = Object.entries(fields)
    const constants = this.#fields.map(([name, field]) => [name, isFamily(field) ? field.prefix : name])
    this.constants = Object.fromEntries(constants) as { [N in keyof F]: string } // one for each field
    this.kept = this.#fields.filter(([, { kept }]) => kept).map(([name]) => name)
    const shape = this.#fields
      .filter(([, { checkpoint }]) => checkpoint)
      .map(([name, field]) => [name, schemaOf(field).optional()])
    this.checkpointSchema = z.strictObject(Object.fromEntries(shape)) as unknown as z.ZodType<CheckpointValues<F>> // of the same fields
  }

  /** Throws if a field does not match the declaration. Undeclared fields are left out. */
  parse(hash: Readonly<Record<string, string | number>>): RecordValues<F> {
    const values = this.#fields.map(([name, field]) => [name, parseField(name, field, hash)] as const)
    return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as RecordValues<F> // each by its declaration
  }

  /** The stored form of values. */
  format(values: RecordInput<F>): Record<string, string | number> {
    return Object.fromEntries(
      this.#fields.flatMap(([name, field]): [string, string | number][] => {
        const value: unknown = values[name]
        if (value === undefined) return []
        if (isFamily(field)) {
          return Object.entries(value as Record<string, number>).map(([key, n]) => [field.prefix + key, n]) // as its kind says
        }
        return [[name, field.kind === 'json' ? JSON.stringify(value) : (value as string | number)]] // as its kind says
      }),
    )
  }

  /** The parsed values that are in a checkpoint. */
  pickForCheckpoint(values: RecordValues<F>): CheckpointValues<F> {
    const picked = this.#fields
      .filter(([name, { checkpoint }]) => checkpoint && name in values)
      .map(([name]) => [name, values[name as keyof typeof values]])
    return Object.fromEntries(picked) as CheckpointValues<F> // the fields that it filters by
  }

  /** The stored numbers that are metrics, by field. */
  listMetrics(values: RecordInput<F>): [field: string, value: number][] {
    const metrics = Object.fromEntries(
      this.#fields.filter(([, { metric }]) => metric).map(([name]) => [name, values[name]]),
    ) as RecordInput<F> // a part of them
    return Object.entries(this.format(metrics)).map(([field, value]) => [field, Number(value)])
  }
}

function isFamily(field: Field): field is FamilyField {
  return field.kind === 'counters' || field.kind === 'sums' || field.kind === 'timestamps'
}

function parseField(name: string, field: Field, hash: Readonly<Record<string, string | number>>): unknown {
  if (isFamily(field)) {
    const members = Object.entries(hash).filter(([key]) => key.startsWith(field.prefix))
    return Object.fromEntries(members.map(([key, text]) => [key.slice(field.prefix.length), parseNumber(key, text)]))
  }
  const text = hash[name]
  if (text === undefined) return undefined
  if (field.kind === 'text') return field.schema ? field.schema.parse(text) : text
  return field.kind === 'json' ? field.schema.parse(JSON.parse(String(text))) : parseNumber(name, text)
}

function parseNumber(field: string, text: string | number): number {
  const value = Number(text)
  if (Number.isNaN(value)) throw new TypeError(`The stored field ${field} is not a number: ${text}`)
  return value
}

/** Far enough from 2^63, beyond which Redis does not count, that no counter reaches it. */
const Count = z.int().min(0)
/** Largest time that a Date can hold, in ms. */
const Timestamp = z.int().min(0).max(8_640_000_000_000_000)
/** Redis rejects additions whose result is infinite. Above any sum of safe integers, such as lengths in a wrong unit. */
const MAX_SUM = 1e100
const Sum = z.number().min(-MAX_SUM).max(MAX_SUM)

function schemaOf(field: Field): z.ZodType {
  switch (field.kind) {
    case 'counter':
    case 'cursor':
      return Count
    case 'timestamp':
      return Timestamp
    case 'sum':
      return Sum
    case 'counters':
      return z.record(z.string().regex(field.names), Count)
    case 'timestamps':
      return z.record(z.string().regex(field.names), Timestamp)
    case 'sums':
      return z.record(z.string().regex(field.names), Sum)
    case 'text':
      return field.schema ?? z.string()
    case 'json':
      return field.schema
  }
}
