/**
 * Reads and writes JSON Lines. Only a line feed ends a line. Many readers (node:readline, Python's `str.splitlines`) also
 * split at other characters, which JSON strings may contain, so the writer escapes them.
 */
const LINE_FEED = 0x0a
/** JSON itself escapes the other separators, which are below U+0020. */
const UNICODE_LINE_SEPARATORS = ['\u0085', '\u2028', '\u2029']

/** An escaped backslash, or half of a surrogate pair: JSON.stringify escapes no other. */
const HALF_PAIR_PATTERN = /\\\\|\\ud[89a-f][0-9a-f]{2}/g

/** Includes the line feed. Half of a surrogate pair becomes U+FFFD: some readers reject a whole file for one. */
export function formatJsonLine(value: object): string {
  let text = JSON.stringify(value)
  if (text.includes('\\ud')) text = text.replaceAll(HALF_PAIR_PATTERN, (found) => (found === '\\\\' ? found : '\ufffd'))
  // Search first: these characters are rare, and searching for one takes a hundredth of the time of serializing.
  for (const character of UNICODE_LINE_SEPARATORS)
    if (text.includes(character)) text = text.replaceAll(character, escapeCharacter(character))
  return `${text}\n`
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let partialLine: Buffer[] = []
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...partialLine, chunk.subarray(from, end)]).toString()
      partialLine = []
      from = end + 1
    }
    partialLine.push(chunk.subarray(from))
  }
  const last = Buffer.concat(partialLine)
  if (last.byteLength > 0) yield last.toString()
}
