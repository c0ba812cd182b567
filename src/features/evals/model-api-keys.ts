/** Joins the API keys of a job's models into one text: a key is printable ASCII, so a newline separates two. */

/** Returns undefined if no model has a key. */
export function joinModelApiKeys(keys: readonly (string | undefined)[]): string | undefined {
  return keys.every((key) => key === undefined) ? undefined : keys.map((key) => key ?? '').join('\n')
}

/** Returns the key of one of the models, counted from 0. */
export function pickModelApiKey(joined: string | undefined, model: number): string | undefined {
  return joined?.split('\n')[model] || undefined
}
