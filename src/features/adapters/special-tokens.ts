/** Removes the special tokens that tokenizers leave at the end of a decoded text. */

/** Matches `<|im_end|>`, `<｜end▁of▁sentence｜>`, `</s>` and similar tokens. */
const SPECIAL_TOKEN = String.raw`<[|｜][^<>]{1,40}[|｜]>|</?s>|<(?:eos|bos|pad|unk)>|<(?:start|end)_of_turn>|\[(?:PAD|EOS|SEP|CLS|BOS)\]`
export const LEADING_TOKEN = new RegExp(`^\\s*(?:${SPECIAL_TOKEN})`)
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
