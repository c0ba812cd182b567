/**
 * Finds the model's output in texts that were decoded with their special tokens, such as OpenRLHF's `query`: prompt and
 * response in one.
 */

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

/** Matches `<|im_end|>`, `<｜end▁of▁sentence｜>`, `</s>` and similar tokens. */
const SPECIAL_TOKEN = String.raw`<[|｜][^<>]{1,40}[|｜]>|</?s>|<(?:eos|bos|pad|unk)>|<(?:start|end)_of_turn>|\[(?:PAD|EOS|SEP|CLS|BOS)\]`
const LEADING_TOKEN = new RegExp(`^\\s*(?:${SPECIAL_TOKEN})`)
const TRAILING_TOKENS = new RegExp(`(?:(?:${SPECIAL_TOKEN})\\s{0,8})+$`)
/** Padding repeats, so the end of a text is read in pieces of this length, which also bounds the regular expression. */
const TAIL_CHARS = 256

/** Returns the text without special tokens at its end. White space stays unless a token follows or precedes it. */
export function stripTrailingTokens(text: string): string {
  for (let end = text.length; ; ) {
    const tail = text.slice(Math.max(0, end - TAIL_CHARS), end)
    const tokens = TRAILING_TOKENS.exec(tail)?.[0].length ?? 0
    if (tokens === 0) return end === text.length ? text : text.slice(0, end)
    end -= tokens
  }
}
