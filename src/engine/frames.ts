/** Frames on a stream: four bytes of length, big-endian, then one JSON document. The other end is worker/frames.py. */

const LENGTH_PREFIX_BYTES = 4

export function encodeFrame(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message))
  const frame = Buffer.allocUnsafe(LENGTH_PREFIX_BYTES + body.length)
  frame.writeUInt32BE(body.length)
  body.copy(frame, LENGTH_PREFIX_BYTES)
  return frame
}

/** A function that takes chunks as they come and calls `onMessage` for each whole frame. */
export function createFrameDecoder(onMessage: (message: unknown) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = []
  let size = 0
  let wanted = LENGTH_PREFIX_BYTES
  return (chunk) => {
    chunks.push(chunk)
    size += chunk.length
    if (size < wanted) return // do not join what is not yet a whole frame: large frames come in many chunks
    let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks)
    while (rest.length >= LENGTH_PREFIX_BYTES) {
      const end = LENGTH_PREFIX_BYTES + rest.readUInt32BE()
      if (rest.length < end) break
      onMessage(JSON.parse(rest.toString('utf8', LENGTH_PREFIX_BYTES, end)))
      rest = rest.subarray(end)
    }
    wanted = rest.length >= LENGTH_PREFIX_BYTES ? LENGTH_PREFIX_BYTES + rest.readUInt32BE() : LENGTH_PREFIX_BYTES
    chunks = [rest]
    size = rest.length
  }
}
