/** Frames on a stream: four bytes of length, big-endian, then one JSON document. The other end is host/frames.py. */

const LENGTH_BYTES = 4

export function encodeFrame(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message))
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + body.length)
  frame.writeUInt32BE(body.length)
  body.copy(frame, LENGTH_BYTES)
  return frame
}

/** A function that takes chunks as they come and calls `onMessage` for each whole frame. */
export function frameReader(onMessage: (message: unknown) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = []
  let size = 0
  let wanted = LENGTH_BYTES
  return (chunk) => {
    chunks.push(chunk)
    size += chunk.length
    if (size < wanted) return // do not join what is not yet a whole frame: large frames come in many chunks
    let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks)
    while (rest.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + rest.readUInt32BE()
      if (rest.length < end) break
      onMessage(JSON.parse(rest.toString('utf8', LENGTH_BYTES, end)))
      rest = rest.subarray(end)
    }
    wanted = rest.length >= LENGTH_BYTES ? LENGTH_BYTES + rest.readUInt32BE() : LENGTH_BYTES
    chunks = [rest]
    size = rest.length
  }
}
