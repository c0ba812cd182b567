/** One group to read: its question, all of its rollouts in a table, and the one that is chosen. */
import { useResource } from '../data-hooks.js'
import { formatCount, formatDecimal, humanize, toSentence } from '../format.js'
import { addressOf, replaceAddress, useArrowKeys, useQueryField } from '../hooks.js'
import { html, useEffect, useMemo } from '../html.js'
import { Chip, EmptyState, ErrorMessage, Loading } from './common.js'
import { QuestionText, SampleView, useQuestion, VerdictChips, VerdictSign } from './completion.js'
import { CopyButton } from './copy.js'
import { DataTable } from './table.js'

const QUEUED_REFRESH_MS = 1000
/** What an excerpt shows before the first difference. */
const CONTEXT_CHARS = 8

/** `base`: the address of the list. */
export function GroupView({ path, id, base, q, onPreviousGroup, onNextGroup }) {
  const { value: group, problem, reload } = useResource(`${path}/groups/${encodeURIComponent(id)}`)
  useEffect(() => {
    if (group?.status !== 'queued') return undefined
    const timer = setTimeout(reload, QUEUED_REFRESH_MS)
    return () => clearTimeout(timer)
  }, [group])
  const { question, propensity, problem: trouble } = useQuestion(group?.item_id, group?.run)
  const rows = useMemo(() => (group ? listRollouts(group) : []), [group])
  const [chosen] = useQueryField('rollout')
  const place = Math.max(
    0,
    rows.findIndex(({ places }) => places.includes(Number(chosen) - 1)),
  )
  const here = `${base}/${encodeURIComponent(id)}`
  const addressAt = (row) => addressOf(here, { rollout: String(row.places[0] + 1) })
  const move = (by) => rows[place + by] && replaceAddress(addressAt(rows[place + by]))
  useArrowKeys({ onPrevious: () => move(-1), onNext: () => move(1), onPreviousGroup, onNextGroup })
  return html`<div class="reading">
    <div class="steps">
      <a href=${addressOf(base, { rollout: '' })}>All groups</a>
      <button type="button" disabled=${!onPreviousGroup} onClick=${onPreviousGroup} title="Shift and ←, or K"><span aria-hidden="true">←</span> Previous group</button>
      <button type="button" disabled=${!onNextGroup} onClick=${onNextGroup} title="Shift and →, or J">Next group <span aria-hidden="true">→</span></button>
      <span class="end"><${CopyButton} text=${location.href} what="the address of this rollout">Copy link<//></span>
    </div>
    ${problem && html`<${ErrorMessage} problem=${problem} />`}
    ${!group && !problem && html`<${Loading} />`}
    ${
      group &&
      html`
      <h3>${group.task} <span class="soft">${describeGroup({ ...group, propensity })} · <a href=${`#/tasks/${group.task}`}>about the task</a></span> <${Chip}>${humanize(group.destination ?? group.status)}<//></h3>
      ${group.status === 'failed' && html`<p class="soft">${toSentence([humanize(group.code ?? 'failed'), group.detail].filter(Boolean).join(': '))}</p>`}
      <details class="prompt" open><summary>Question</summary><${QuestionText} question=${question} problem=${trouble} /></details>
      ${group.completions === null && html`<${EmptyState}>The server no longer stores the texts of this group.<//>`}
      ${rows.length > 0 && html`<${RolloutTable} rows=${rows} place=${place} addressAt=${addressAt} count=${group.completions?.length ?? 0} />`}
      ${rows[place] && html`<${SampleView} key=${place} sample=${rows[place].sample} label=${`Rollout ${rows[place].places[0] + 1}`} question=${question} q=${q} />`}`
    }
  </div>`
}

function describeGroup({ difficulty, propensity, policy_version, mean_reward, group_id }) {
  return [
    group_id,
    policy_version !== null && `step ${formatCount(policy_version)}`,
    difficulty !== null && `difficulty ${formatDecimal(difficulty)}`,
    propensity !== undefined && `drawn with probability ${formatDecimal(propensity)}`,
    `mean reward ${formatDecimal(mean_reward)}`,
  ]
    .filter(Boolean)
    .join(' · ')
}

/** Rollouts with the same text are one row: `{ sample, places }`. The lowest reward comes first, rollouts without one last. */
function listRollouts({ task, expected, hardened_scores: hardened, completions, verdicts = [] }) {
  const rows = new Map()
  for (const [k, { text, ...rest }] of (completions ?? []).entries()) {
    const key = `${verdicts[k]?.reward} ${rest.reasoning ?? ''}\n${text}`
    const row = rows.get(key)
    if (row) row.places.push(k)
    else
      rows.set(key, {
        places: [k],
        sample: {
          status: 'missing',
          ...verdicts[k],
          ...rest,
          completion: text,
          task,
          ...(expected !== undefined && { expected }),
          ...(hardened && { hardened: hardened[k] }),
        },
      })
  }
  const rank = ({ sample }) => sample.reward ?? Number.POSITIVE_INFINITY
  return [...rows.values()].toSorted((a, b) => rank(a) - rank(b) || a.places[0] - b.places[0])
}

function RolloutTable({ rows, place, addressAt, count }) {
  const hidden = count - rows.length
  const answers = countAnswers(rows)
  const start = findFirstDifference(rows)
  const excerpt = (answer, length) =>
    html`<code><bdi>${start > length / 2 ? `…${answer.slice(start - CONTEXT_CHARS, start - CONTEXT_CHARS + length)}` : answer.slice(0, length)}</bdi></code>`
  const caption = html`<caption class="soft">${formatCount(count)} rollouts, worst first${hidden > 0 ? `; equal texts are one row` : ''}. ${answers.length > 0 && answers.length < rows.length && html`Answers: ${answers.map(([answer, times]) => html`${excerpt(answer, 30)} × ${times} `)}`} <span aria-hidden="true">← →</span></caption>`
  const drawPlace = ({ sample, places }, k) =>
    html`<a href=${addressAt(rows[k])} aria-current=${k === place ? 'true' : null}><${VerdictSign} verdict=${sample} /> ${places[0] + 1}</a>${places.length > 1 && html` <span class="soft">× ${places.length}</span>`}`
  return html`<${DataTable} label="Rollouts" caption=${caption} rows=${rows} getProps=${(_row, k) => ({ class: k === place ? 'chosen' : null })} columns=${[
    ['rollout', drawPlace],
    ['reward', ({ sample }) => formatDecimal(sample.reward), 'num'],
    [
      'answer',
      ({ sample }) =>
        html`${typeof sample.answer === 'string' && excerpt(sample.answer.trim(), 60)} <${VerdictChips} verdict=${sample} />`,
      'excerpt',
    ],
    ['tokens', ({ sample }) => formatCount(sample.length_tokens), 'num'],
  ]} />`
}

/** The most common answers: texts that differ may end in the same one. */
function countAnswers(rows) {
  const counts = new Map()
  for (const { sample, places } of rows)
    if (typeof sample.answer === 'string')
      counts.set(sample.answer.trim(), (counts.get(sample.answer.trim()) ?? 0) + places.length)
  return [...counts].toSorted(([, a], [, b]) => b - a).slice(0, 3)
}

/** Where the answers of a group begin to differ: long ones may have the same start. */
function findFirstDifference(rows) {
  const [first = '', ...others] = rows.flatMap(({ sample: { answer } }) =>
    typeof answer === 'string' ? [answer.trim()] : [],
  )
  let k = 0
  while (k < first.length && others.every((other) => other[k] === first[k])) k++
  return others.length === 0 || k === first.length ? 0 : k
}
