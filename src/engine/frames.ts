/** Frames on a stream: four bytes of length, big-endian, then one JSON document. The other end is python/frames.py. */

const LENGTH_PREFIX_BYTES = 4

export function encodeFrame(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message))
  const frame = Buffer.allocUnsafe(LENGTH_PREFIX_BYTES + body.length)
  frame.writeUInt32BE(body.length)
  body.copy(frame, LENGTH_PREFIX_BYTES)
  return frame
}

/** No item and no list of tasks comes near it. */
const MAX_FRAME_BYTES = 64 * 1024 * 1024

/** Chunks are joined in these numbers, because one byte may come alone, and a Buffer takes hundreds. */
const JOINED_CHUNKS = 1024

/**
 * A function that takes chunks as they come and calls `onMessage` for each whole frame. The other end may run what is
 * hostile: for a frame that is too long or no JSON object it calls `onInvalid`, and takes no more.
 */
export function createFrameDecoder(
  onMessage: (message: Record<string, unknown>) => void,
  onInvalid: () => void,
): (chunk: Buffer) => void {
  let chunks: Buffer[] = []
  let joined = 0 // number of chunks that are joined ones
  let size = 0
  let wanted = LENGTH_PREFIX_BYTES
  let isBroken = false
  const rejectFrame = () => {
    isBroken = true
    chunks = []
    onInvalid()
  }
  return (chunk) => {
    if (isBroken) return
    chunks.push(chunk)
    if (chunks.length - joined === JOINED_CHUNKS) chunks.push(Buffer.concat(chunks.splice(joined++)))
    size += chunk.length
    if (size < wanted) return // do not join what is not yet a whole frame: large frames come in many chunks
    let rest = chunks.length > 1 ? Buffer.concat(chunks) : (chunks[0] ?? chunk)
    while (rest.length >= LENGTH_PREFIX_BYTES) {
      const end = LENGTH_PREFIX_BYTES + rest.readUInt32BE()
      if (end > MAX_FRAME_BYTES) {
        rejectFrame()
        return
      }
      if (rest.length < end) break
      const message = parseObject(rest.toString('utf8', LENGTH_PREFIX_BYTES, end))
      if (!message) {
        rejectFrame()
        return
      }
      onMessage(message)
      rest = rest.subarray(end)
    }
    wanted = rest.length >= LENGTH_PREFIX_BYTES ? LENGTH_PREFIX_BYTES + rest.readUInt32BE() : LENGTH_PREFIX_BYTES
    chunks = [rest]
    joined = 0
    size = rest.length
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined // JSON has no other objects
  } catch {
    return undefined
  }
}
