/**
 * Writes docs/trainers/: a page for each trainer, and one for the others, from the texts of the adapters and the releases that were
 * tested. A test rewrites them, and so does `npm run trainers -- --record`.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describePackages, readFamilies } from '../../verification/trainers/versions.ts'
import { ADAPTER_TEXTS, type AdapterText } from './adapter-texts.ts'

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'trainers')

const OTHERS = `# Other trainers and tools

Before the first program, [start the server and create a run](../guides/trainers.md#before-you-start).
`

/** The pages by file name. Texts with `page: others` share one. */
export function buildTrainerPages(): Record<string, string> {
  const own = ADAPTER_TEXTS.filter(({ page }) => page === 'own')
  const others = ADAPTER_TEXTS.filter(({ page }) => page === 'others').map(formatPage)
  return {
    ...Object.fromEntries(own.map((text) => [`${text.name}.md`, formatPage(text)])),
    'others.md': [OTHERS, ...others.map((page) => page.replaceAll(/^(?=##? [A-Z])/gm, '#'))].join('\n'), // one level deeper
  }
}

export function writeTrainerPages(): void {
  for (const [name, page] of Object.entries(buildTrainerPages())) writeFileSync(join(FOLDER, name), page)
}

function formatPage(text: AdapterText): string {
  const paragraphs = [
    `# ${text.heading}`,
    text.summary,
    `**Unscored completions:** ${text.unscored}`,
    formatTested(text.families),
  ]
  return `${[...paragraphs, linkFromPage(text.body)].filter(Boolean).join('\n\n')}\n`
}

function formatTested(names: readonly string[]): string {
  const families = readFamilies().filter(({ name }) => names.includes(name))
  const tested = families.map((family) => `${describePackages(family)} on ${family.proven} (\`${family.name}\`)`)
  return tested.length === 0 ? '' : `**Tested:** ${tested.join('; ')}.`
}

/** The links of a text start from its own folder. */
function linkFromPage(body: string): string {
  return body
    .replaceAll('../../../../docs/trainers/', '')
    .replaceAll('../../../../docs/', '../')
    .replaceAll('../../../../', '../../')
}
