/** Answers to codeio as models give them: JSON with slips, in other forms and among text, and JSON that is hostile. */

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

const KEYS = ['a', 'item_0', 'k:v', ':', '', 'é', '😀', '￿', 'output', '__proto__']
const WORDS = '|1|12|0.50|1.2.3|..|5.|½|٣|²|五|北京|é|😀a|\ud800|x:y|:|True|None|1:2|\u007f\u0001\n"\\'.split('|')
const LEAVES: Json[] = [0, 1, -1, 7.25, 1e16, 1e-5, -0, 1e300, true, false, null, '9'.repeat(400), ...WORDS]
const HOSTILE = [
  ...[100, 390, 410, 950, 980, 995, 1000].flatMap((depth) => [
    `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
    `${'{"a":'.repeat(depth)}${'}'.repeat(depth)}`,
    `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`,
  ]),
  ...[4299, 4300, 4301].map((digits) => `{"a":${'9'.repeat(digits)}}`),
  `{"a":"${'1'.repeat(400)}","b":${'1'.repeat(400)}}`,
  `{"a":[${'1,'.repeat(3000)}1]}`,
  `{"a":"${'ab'.repeat(2000)}"}`,
  '} {',
  '{}{}',
  '{"a":1,}',
]

const WRAPPINGS: readonly ((text: string) => string)[] = [
  (text) => ` ${text}\n`,
  (text) => `\u2003${text}\u001f`,
  (text) => `The answer is ${text}`,
  (text) => `\`\`\`json\n${text}\n\`\`\``,
  (text) => `${text} ${'.'.repeat(120)}`,
  (text) => text + text,
  (text) => text.slice(0, -1),
  (text) => `}${text}`,
  (text) => `${text}{`,
  (text) => `{"output":${text}}`,
  (text) => text.replaceAll('"', "'"),
  (text) => text.replace(',', ', "a": 1, "a": 2,'),
  (text) => text.replaceAll('1', 'NaN'),
  (text) => text.replaceAll('1', '-Infinity'),
  (text) => text.replaceAll('1', '01'),
  (text) => text.replaceAll('1', '1.0'),
  (text) => text.replaceAll('1', '1e400'),
]

/** `other` is the right answer of another item. */
export function generateJsonAnswers(right: string, other: string, count: number, random: () => number): string[] {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T // lists are not empty
  const edit = (value: Json, depth = 0): Json => {
    const children = typeof value === 'object' && value !== null ? Object.entries(value) : []
    if (children.length === 0 || depth > 8 || random() < 0.1) return editLeaf(value, pick)
    const at = Math.floor(random() * children.length)
    const [key, child] = children[at] ?? ['', null]
    const edited = pick<() => [string, Json][]>([
      () => children.toSpliced(at, 1),
      () => children.toSpliced(at, 0, [pick(KEYS), pick(LEAVES)]),
      () => children.with(at, [`${key}${pick(KEYS)}`, child]),
      ...Array.from({ length: 8 }, () => () => children.with(at, [key, edit(child, depth + 1)])),
    ])()
    return Array.isArray(value) ? edited.map(([, item]) => item) : Object.fromEntries(edited)
  }
  const answers = [right, other, pick(HOSTILE)]
  while (answers.length < count) {
    let value = parse(random() < 0.9 ? right : other)
    for (let edits = pick([0, 1, 1, 2, 3, 6]); edits > 0; edits--) value = edit(value)
    if (random() < 0.5 && !isObject(value)) value = { output: value }
    const text = JSON.stringify(value, null, pick([0, 0, 2]))
    answers.push(random() < 0.6 ? text : pick(WRAPPINGS)(text))
  }
  return answers
}

function editLeaf(value: Json, pick: <T>(list: readonly T[]) => T): Json {
  if (typeof value === 'number')
    return pick<Json>([value + 1, value - 1, value * 1.1, -value, `${value}`, pick(LEAVES)])
  if (typeof value === 'string')
    return pick<Json>([`${value}x`, value.slice(1), value.toUpperCase(), [...value].reverse().join(''), pick(LEAVES)])
  return pick<Json>([[pick(LEAVES), pick(LEAVES)], { [pick(KEYS)]: pick(LEAVES) }, [value], pick(LEAVES)])
}

function isObject(value: Json): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Python writes NaN and Infinity, which are no JSON. */
function parse(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return { text }
  }
}
