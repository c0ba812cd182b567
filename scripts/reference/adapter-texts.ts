/**
 * Reads how to set up each trainer from the Markdown files in `src/features/adapters/texts`. A text has a head, a heading, a section
 * for each snippet, and notes.
 */
import { readFileSync } from 'node:fs'
import { AdapterName } from '@reasoning-gym-server/contract/adapter'

const FOLDER = new URL('../../src/features/adapters/texts/', import.meta.url)
/** Values of the placeholders in snippets. */
const PLACEHOLDERS: Record<string, string> = {
  url: 'http://127.0.0.1:8000',
  url_with_key: 'http://trainer:API_KEY@127.0.0.1:8000',
}

export interface AdapterText {
  name: AdapterName
  heading: string
  summary: string
  /** Routes that the trainer calls. `[/{run}]`: the run is optional. */
  paths: string[]
  /** What the trainer receives for a completion that could not be scored. */
  unscored: string
  snippets: { title: string; language: string; code: string }[]
  /** Markdown; its links are relative to `texts/`. */
  notes: string
}

const HEAD = /^---\n([\s\S]*?)\n---\n\n# (.+)\n/
const SNIPPET = /^## (.+)\n\n```(\w+)\n([\s\S]*?)\n```$/gm
const NOTES_HEADING = '\n## Notes\n'

/** All texts, in the order of the names. */
export const ADAPTER_TEXTS: readonly AdapterText[] = AdapterName.options.map(readText)

function readText(name: AdapterName): AdapterText {
  const text = readFileSync(new URL(`${name}.md`, FOLDER), 'utf8')
  const [, head = '', heading = ''] = HEAD.exec(text) ?? []
  const field = (key: string) => new RegExp(`^${key}: (.+)$`, 'm').exec(head)?.[1] ?? ''
  const [setup = '', notes = ''] = text.split(NOTES_HEADING)
  const snippets = [...setup.matchAll(SNIPPET)].map(([, title = '', language = '', code = '']) => ({
    title,
    language,
    code: code.replace(/\{\{(\w+)\}\}/g, (placeholder, key: string) => PLACEHOLDERS[key] ?? placeholder),
  }))
  return {
    name,
    heading,
    summary: field('summary'),
    paths: field('paths').split(', '),
    unscored: field('unscored'),
    snippets,
    notes: notes.trim(),
  }
}
