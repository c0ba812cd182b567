/**
 * Gives memory of bytes back at once, if no others share it: they are empty from then on. V8 counts it as garbage only when it
 * collects, and begins a full collection with every 64 MB that were allocated since the last one, however much is garbage.
 */
export function detachBuffer({ buffer, byteLength }: ArrayBufferView): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
