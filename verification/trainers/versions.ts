/** Reads versions.json: which packages each family of trainers is proven with, and when it was proven. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const VERSIONS_FILE = join(import.meta.dirname, 'versions.json')

const Family = z.strictObject({
  trainer: z.string().describe('Its name in the documentation'),
  script: z
    .string()
    .optional()
    .describe('File of its wire format, which has an entry for it; none: that of its own name'),
  venv: z
    .string()
    .regex(/^[a-z0-9-]+$/)
    .describe('The virtual environment; families that name the same one share it'),
  python: z
    .string()
    .regex(/^3\.\d+$/)
    .optional()
    .describe('Python that it needs; none: any from 3.11'),
  requirements: z.array(z.string()).describe('Installed with what they need'),
  no_deps: z.array(z.string()).default([]).describe('Installed without what they need, whatever Python they ask for'),
  torch: z.boolean().default(false).describe('Needs PyTorch, which is installed first'),
  sources: z
    .array(z.string().regex(/^https:.+@[0-9a-f]{40}$/))
    .default([])
    .describe('git repositories, URL@commit'),
  quick: z.boolean().describe('Whether --quick runs it'),
  timeout_s: z.number().default(900).describe('How long its script may take'),
  env: z.record(z.string(), z.string()).default({}).describe('More environment variables of the script'),
  proven: z.iso.date().nullable().describe('The last day on which it passed'),
})
export type Family = Omit<z.infer<typeof Family>, 'script'> & { name: string; script: string }

const Versions = z.strictObject({ about: z.string(), families: z.record(z.string(), Family) })

export function readFamilies(): Family[] {
  const { families } = Versions.parse(JSON.parse(readFileSync(VERSIONS_FILE, 'utf8')))
  return Object.entries(families).map(([name, family]) => ({
    ...family,
    name,
    script: join(import.meta.dirname, `${family.script ?? name.replaceAll('-', '_')}.py`),
  }))
}

/** Writes down that these families passed today, and leaves the rest of the file as it stands. */
export function recordProofs(names: readonly string[]): void {
  const today = new Date().toISOString().slice(0, 10)
  const blocks = readFileSync(VERSIONS_FILE, 'utf8').split(/^(?= {4}"[a-z-]+": \{$)/m)
  const passed = (block: string) => names.some((name) => block.startsWith(`    "${name}": {`))
  const dated = blocks.map((block) => (passed(block) ? block.replace(/("proven": ).*/, `$1"${today}"`) : block))
  writeFileSync(VERSIONS_FILE, dated.join(''))
}

/** The pinned packages that name the trainer, as the documentation shows them. */
export function describePackages({ requirements, no_deps, sources }: Family): string {
  const commits = sources.map((source) => source.replace(/^.*\/([^/@]+)@(.{8}).*$/, '$1 $2'))
  const packages = [...no_deps, ...requirements].filter((one) => one.includes('=='))
  return [...packages.map((one) => one.replace('==', ' ')), ...commits].join(', ')
}
