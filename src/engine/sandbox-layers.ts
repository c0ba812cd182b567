/** The layers around the Python workers: which stand and which the platform refuses. */
import type { PythonWorkerKind } from './zygote.ts'

/** By name: null where the layer stands, else what refused it. */
export type SandboxLayers = Record<string, string | null>

/** What Python workers have said of themselves; those of one kind all say the same. */
export class SandboxLayerRegistry {
  readonly #byKind = new Map<PythonWorkerKind, SandboxLayers>()

  /** Whether that is news. */
  record(kind: PythonWorkerKind, layers: SandboxLayers): boolean {
    const before = this.#byKind.get(kind)
    this.#byKind.set(kind, layers)
    return JSON.stringify(before) !== JSON.stringify(layers)
  }

  /** A layer stands if it stands around Python workers of both kinds. Empty until the first worker has come. */
  getCombined(): SandboxLayers {
    const all: SandboxLayers = {}
    for (const layers of this.#byKind.values()) {
      for (const [name, refusal] of Object.entries(layers)) all[name] ??= refusal
    }
    return all
  }
}

export function hasMissingLayers(layers: SandboxLayers): boolean {
  return Object.values(layers).some((refusal) => refusal !== null)
}

/** For people: `on`, or what refused it. */
export function formatSandboxLayers(layers: SandboxLayers): Record<string, string> {
  return Object.fromEntries(Object.entries(layers).map(([name, refusal]) => [name, refusal ?? 'on']))
}
