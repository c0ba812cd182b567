/** Maps whose keys are not known in advance, under one name each in the API document. */
import { z } from 'zod'

export const JsonObject = z.looseObject({}).meta({ id: 'JsonObject', description: 'A JSON object with any fields.' })
export const CountByName = z
  .record(z.string(), z.int().min(0))
  .meta({ id: 'CountByName', description: 'Counts by name.' })
export const NumberByName = z
  .record(z.string(), z.number())
  .meta({ id: 'NumberByName', description: 'Numbers by name.' })
export const TextByName = z.record(z.string(), z.string()).meta({ id: 'TextByName', description: 'Texts by name.' })
