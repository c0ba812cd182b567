/** Disables one workaround in every process of the server: `node --import bench/ablation/preload.ts`, named by BENCH_WITHOUT. */
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { disableWorkaround, WORKAROUNDS } from './workarounds.ts'

const name = process.env.BENCH_WITHOUT ?? ''
const file = WORKAROUNDS[name]?.file
if (file === undefined) throw new Error(`BENCH_WITHOUT: one of ${Object.keys(WORKAROUNDS).join(', ')}`)
const target = pathToFileURL(join(import.meta.dirname, '..', '..', file)).href

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (url !== target) return loaded
    const source = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source)
    return { ...loaded, source: disableWorkaround(source, name) }
  },
})
