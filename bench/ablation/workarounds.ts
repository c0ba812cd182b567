/** The workarounds of Node, V8 and Fastify, and the edit of the source that disables each: `npm run bench -- --without NAME`. */

export interface Workaround {
  /** Relative to the repository. */
  file: string
  search: string
  replacement: string
}

export const WORKAROUNDS: Record<string, Workaround> = {
  'request-admission': {
    file: 'src/http/connections/request-admission.ts',
    search: 'if (PROBE_PATHS.has(route.url)) return',
    replacement: 'return',
  },
  'lingering-close': {
    file: 'src/http/connections/lingering-close.ts',
    search: 'if (request.complete || !(socket instanceof Socket)) return',
    replacement: 'return',
  },
  'v8-flags': {
    file: 'src/http/connections/v8-flags.ts',
    search: "setFlagsFromString('--no-allocation-site-pretenuring')",
    replacement: '',
  },
  'detach-buffer': {
    file: 'packages/codec/src/detach-buffer.ts',
    search: 'buffer.transfer(0)',
    replacement: 'undefined',
  },
  'shared-scratch-buffer': {
    file: 'packages/codec/src/shared-scratch-buffer.ts',
    search: 'bytes <= SHARED_BUFFER_BYTES ? sharedBuffer.subarray(0, bytes) : ',
    replacement: '',
  },
  'script-connections': {
    file: 'src/platform/redis/script-connections.ts',
    search: 'const SCRIPT_CONNECTION_COUNT = 4',
    replacement: 'const SCRIPT_CONNECTION_COUNT = 0',
  },
  'write-batching': {
    file: 'src/platform/redis/script-connections.ts',
    search: 'stream.writableCorked === 0',
    replacement: 'false',
  },
}

/** Throws unless the text has the one place that is to be edited. */
export function disableWorkaround(source: string, name: string): string {
  const workaround = WORKAROUNDS[name]
  if (!workaround) throw new Error(`no workaround is called ${name}: ${Object.keys(WORKAROUNDS).join(', ')}`)
  if (source.split(workaround.search).length !== 2)
    throw new Error(`${workaround.file} has to have this once: ${workaround.search}`)
  return source.replace(workaround.search, () => workaround.replacement)
}
