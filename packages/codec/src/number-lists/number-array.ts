/** Numbers of a list in the smallest type that gives back every one of them. Where there are nulls, they are NaN. */
export type NumberArray = Int32Array | Float32Array | Float64Array

export function isNumberArray(value: unknown): value is NumberArray {
  return value instanceof Int32Array || value instanceof Float32Array || value instanceof Float64Array
}

/** The first so many in a list of their own. A loop for each type: one for both would be three times as slow. */
export function toSmallestArray(values: Float64Array, count: number): NumberArray {
  return toInt32Array(values, count) ?? toFloat32Array(values, count) ?? values.slice(0, count)
}

function toInt32Array(values: Float64Array, count: number): Int32Array | undefined {
  const list = new Int32Array(count)
  for (let k = 0; k < count; k++) {
    const x = values[k] as number // k < count
    const n = x | 0
    if (n !== x || (n === 0 && 1 / x < 0)) return undefined // -0 is no int32
    list[k] = n
  }
  return list
}

function toFloat32Array(values: Float64Array, count: number): Float32Array | undefined {
  const list = new Float32Array(count)
  for (let k = 0; k < count; k++) {
    const x = values[k] as number // k < count
    const rounded = Math.fround(x)
    if (rounded !== x && !Number.isNaN(x)) return undefined
    list[k] = rounded
  }
  return list
}
