/**
 * JSON lines, read and written. A line feed ends one and nothing else does; but many readers (node:readline, Python's
 * `str.splitlines`) take signs for line ends that JSON has within its texts as they are: what is written has them escaped.
 */
const LINE_FEED = 0x0a
/** The others that such readers know are below U+0020, which JSON escapes itself. */
const UNICODE_LINE_SEPARATORS = ['\u0085', '\u2028', '\u2029']

/** With its end. `replacer` is that of JSON.stringify. */
export function formatJsonLine(value: object, replacer?: (key: string, part: unknown) => unknown): string {
  let text = JSON.stringify(value, replacer)
  // A look for each first: what is to be replaced is seldom there, and to look for one sign takes a hundredth of the spelling.
  for (const sign of UNICODE_LINE_SEPARATORS)
    if (text.includes(sign)) text = text.replaceAll(sign, escapeCharacter(sign))
  return `${text}\n`
}

function escapeCharacter(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
}

export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let begun: Buffer[] = []
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...begun, chunk.subarray(from, end)]).toString()
      begun = []
      from = end + 1
    }
    begun.push(chunk.subarray(from))
  }
  const last = Buffer.concat(begun)
  if (last.byteLength > 0) yield last.toString()
}
