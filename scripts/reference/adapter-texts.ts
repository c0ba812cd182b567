/**
 * Reads how to set up each trainer from the Markdown files in `src/features/adapters/texts`. A text has a head, a heading and sections.
 * A section that begins with code is a snippet.
 */
import { readFileSync } from 'node:fs'
import { AdapterName } from '@reasoning-gym-server/contract/adapter'

const FOLDER = new URL('../../src/features/adapters/texts/', import.meta.url)
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
  /** Markdown below the heading; its links are relative to `texts/`. */
  body: string
  /** Where the docs have it: on a page of its `own`, with `others`, or in a guide. */
  page: string
  /** The families of `verification/trainers/versions.json` that test it. */
  families: string[]
}

const HEAD = /^---\n([\s\S]*?)\n---\n\n# (.+)\n/
const SNIPPET = /^## (.+)\n\n```(\w+)\n([\s\S]*?)\n```$/gm

/** All texts, in the order of the names. */
export const ADAPTER_TEXTS: readonly AdapterText[] = AdapterName.options.map(readText)

function readText(name: AdapterName): AdapterText {
  const text = fillIn(readFileSync(new URL(`${name}.md`, FOLDER), 'utf8'))
  const [start = '', head = '', heading = ''] = HEAD.exec(text) ?? []
  const field = (key: string) => new RegExp(`^${key}: (.+)$`, 'm').exec(head)?.[1] ?? ''
  return {
    name,
    heading,
    summary: field('summary'),
    paths: field('paths').split(', '),
    unscored: field('unscored'),
    snippets: [...text.matchAll(SNIPPET)].map(([, title = '', language = '', code = '']) => ({
      title,
      language,
      code,
    })),
    body: text.slice(start.length).trim(),
    page: field('page') || 'own',
    families: field('families').split(', ').filter(Boolean),
  }
}

function fillIn(text: string): string {
  return text.replace(/\{\{(\w+)\}\}/g, (placeholder, name: string) => PLACEHOLDERS[name] ?? placeholder)
}
