/**
 * The lines of a stream of JSON lines. A line feed ends one and nothing else does: node:readline takes U+2028 and U+2029 for
 * line ends too, which JSON has within its texts as they are.
 */
const LINE_FEED = 0x0a

export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
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
