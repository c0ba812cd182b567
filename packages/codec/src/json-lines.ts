/**
 * Reads and writes JSON Lines. Only a line feed ends a line. Many readers (node:readline, Python's `str.splitlines`) also
 * split at other characters, which JSON strings may contain, so the writer escapes them.
 */
const LINE_FEED = 0x0a
/** JSON itself escapes the other separators, which are below U+0020. */
const UNICODE_LINE_SEPARATORS = ['\u0085', '\u2028', '\u2029']

/** Includes the line feed. `replacer` is passed to JSON.stringify. */
export function formatJsonLine(value: object, replacer?: (key: string, part: unknown) => unknown): string {
  let text = JSON.stringify(value, replacer)
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
