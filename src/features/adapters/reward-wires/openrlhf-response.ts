/** Finds the model's output in OpenRLHF's `query`: prompt and response, decoded together with their special tokens. */
import { LEADING_TOKEN, stripTrailingTokens } from '../special-tokens.ts'

/** Length of the end of a prompt that locates it in a query whose start was cut off. */
const MIN_PROMPT_END_CHARS = 32

/**
 * Returns the response without trailing special tokens, or undefined if the prompt is not at the start of the query.
 * Such a query is never searched as a whole, because a prompt may contain an example answer.
 */
export function readResponse(query: string, prompt: string): string | undefined {
  const start = findResponseStart(query, prompt)
  return start === undefined ? undefined : stripTrailingTokens(query.slice(start))
}

function findResponseStart(query: string, prompt: string): number | undefined {
  if (query.startsWith(prompt)) return prompt.length
  return findAfterAddedTokens(query, prompt) ?? findAfterTruncatedPrompt(query, prompt)
}

/** Tokenizers may add a token at the start, and add or remove spaces around special tokens. */
function findAfterAddedTokens(query: string, prompt: string): number | undefined {
  const direct = skipIgnoringSpaces(query, 0, prompt)
  if (direct !== undefined) return direct
  const added = LEADING_TOKEN.exec(query)?.[0].length
  if (added === undefined) return undefined
  return query.startsWith(prompt, added) ? added + prompt.length : skipIgnoringSpaces(query, added, prompt)
}

/** Returns the position after the prompt if both texts are equal except for white space. */
function skipIgnoringSpaces(query: string, from: number, prompt: string): number | undefined {
  let at = from
  for (let k = 0; k < prompt.length; k++) {
    if (isSpace(prompt.charCodeAt(k))) continue
    while (isSpace(query.charCodeAt(at))) at++
    if (query.charCodeAt(at) !== prompt.charCodeAt(k)) return undefined
    at++
  }
  return at
}

/** OpenRLHF removes tokens from the start of a prompt that leaves no room for a response. */
function findAfterTruncatedPrompt(query: string, prompt: string): number | undefined {
  if (prompt.length <= MIN_PROMPT_END_CHARS) return undefined
  const promptEnd = prompt.slice(-MIN_PROMPT_END_CHARS)
  const end = query.indexOf(promptEnd) + promptEnd.length
  return end >= promptEnd.length && prompt.endsWith(query.slice(0, end)) ? end : undefined
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0
}
