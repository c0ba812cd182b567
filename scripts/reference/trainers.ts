/**
 * The written parts of docs/guides/trainers.md: how to set up each trainer, from the texts that `GET /adapters` serves,
 * and the table that says which release of each trainer was proven when. A test rewrites them;
 * `npm run trainers -- --record` writes the dates.
 */
import { ADAPTER_TEXTS, type AdapterText, describeAdapter } from '../../src/features/adapters/catalogue.ts'
import { describePackages, readFamilies } from '../../verification/trainers/versions.ts'

const ADDRESS = { url: 'http://127.0.0.1:8000', urlWithKey: 'http://trainer:API_KEY@127.0.0.1:8000' }
/** What the guide shows once, under *Before you start*. */
const COMMON_SNIPPET = 'Install the client, and configure the run once'
/** Data sets have a guide of their own. */
const NOT_TRAINERS: readonly string[] = ['dataset']

/** The guide with the sections of today. */
export function updateTrainerSections(guide: string): string {
  const sections = ADAPTER_TEXTS.filter(({ description }) => !NOT_TRAINERS.includes(description.name))
  return replacePart(guide, 'trainers', sections.map(formatSection).join('\n'))
}

/** The guide with the table of today. */
export function updateProvenTable(guide: string): string {
  return replacePart(guide, 'proven', formatProvenTable())
}

/** Replaces what stands between the comments that mark a written part. */
function replacePart(guide: string, name: string, text: string): string {
  const start = new RegExp(`<!-- ${name}: written from .* -->\\n`).exec(guide)
  const end = guide.indexOf(`<!-- end of ${name} -->`)
  if (!start || end < start.index) throw new Error(`docs/guides/trainers.md has lost the marks of its part ${name}`)
  return `${guide.slice(0, start.index + start[0].length)}\n${text}\n${guide.slice(end)}`
}

function formatSection(text: AdapterText): string {
  const { summary, unscored, snippets } = describeAdapter(text, ADDRESS)
  // the tests run blocks of the language `python`, but not of `py`
  const own = snippets.filter(({ title }) => title !== COMMON_SNIPPET)
  const blocks = own.map(
    ({ title, language, code }) => `${title}:\n\n\`\`\`${language === 'python' ? 'py' : language}\n${code}\n\`\`\``,
  )
  const notes = text.notes === '' ? [] : [linkFromGuide(text.notes)]
  return `${[`## ${text.heading}`, summary, ...blocks, `**Unscored:** ${unscored}`, ...notes].join('\n\n')}\n`
}

/** The links of a text start from its own folder. */
function linkFromGuide(notes: string): string {
  return notes
    .replaceAll('../../../../docs/guides/trainers.md#', '#')
    .replaceAll('../../../../docs/guides/', '')
    .replaceAll('../../../../docs/', '../')
    .replaceAll('../../../../', '../../')
}

function formatProvenTable(): string {
  const rows = readFamilies().map((family) => {
    const { trainer, name, proven, quick } = family
    return `| ${trainer} | \`${name}\` | ${describePackages(family)} | ${proven ?? 'not yet'} | ${quick ? 'in CI' : 'weekly'} |`
  })
  return ['| trainer | family | packages | proven on | |', '|---|---|---|---|---|', ...rows, ''].join('\n')
}
