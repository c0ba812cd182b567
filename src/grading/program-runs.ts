/** Scores the inputs that a model predicts for a program: right are all on which it gives the item's output. */
import type { Config } from '@reasoning-gym-server/contract/recipe'
import { isInputPrediction, isPossibleInput } from '@reasoning-gym-server/scorers/corrections/codeio'
import type { DatasetEntry } from '@reasoning-gym-server/scorers/scorer'
import type { Engine, EngineOutcome } from '../engine/engine.ts'

const WRONG: EngineOutcome = { kind: 'value', value: 0 }

/** Programs that would run a part of their input as code: no answer of a model ever is. */
const RUNS_INPUT_PATTERN =
  /\b(?:eval|exec|__import__|getattr|open)\s*\(|(?<!\bre\.)\bcompile\s*\(|\b(?:sympy|pickle|marshal|yaml|subprocess|os\.system)\b/

/** Whether only a run of the item's own program tells a right answer from a wrong one. */
export function needsRun(task: string, entry: DatasetEntry): boolean {
  return task === 'codeio' && isInputPrediction(entry) && !RUNS_INPUT_PATTERN.test(entry.question)
}

/** The scores 1 and 0, each as the engine gives it, or why there is none. */
export async function scoreByRun(
  engine: Engine,
  { config, seed, engine: version }: { config: Config; seed: number; engine?: string },
  entry: DatasetEntry,
  texts: readonly string[],
): Promise<EngineOutcome[]> {
  const inputs = [...new Set(texts.map((text) => text.trim()))].filter((text) => isPossibleInput(entry, text))
  const outcomes = await engine.runProgram('codeio', config, seed, entry, inputs, version)
  const scores = new Map(inputs.map((input, k) => [input, toScore(outcomes[k])]))
  return texts.map((text) => scores.get(text.trim()) ?? WRONG)
}

/** A program that does not end on an answer gives no output. That it cannot be loaded is no fault of the answer. */
function toScore(outcome: EngineOutcome | undefined): EngineOutcome | undefined {
  if (outcome?.kind === 'value') return { kind: 'value', value: outcome.value === true ? 1 : 0 }
  if (outcome?.kind === 'lost' && outcome.reason === 'timeout') return WRONG
  if (outcome?.kind === 'raised') return { kind: 'lost', reason: 'crashed', detail: outcome.detail }
  return outcome
}
