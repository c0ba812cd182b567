/**
 * Which seed of a position gives its item: the library raises at some seeds, some items have no correct answer, and a run may
 * exclude questions, those of eval items or those it has asked.
 */
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { isAnswerable } from '@reasoning-gym-server/scorers/corrections/corrections'
import { type EvalQuestions, hashQuestion, shortenQuestionHash } from '../../items/eval-questions.ts'
import { type ItemWithEntry, isSeedFailure } from '../../items/items.ts'
import type { StorableItem, StoreOutcome } from './positions.ts'
import { SEEDS_PER_POSITION } from './sequence.ts'

/**
 * Thrown if no seed of a position, or none that is left, has an item to train on. The message is that of the last seed.
 */
export class NoUsableItemError extends Error {}

/**
 * Returns the item of the first seed, starting at retry `from`, that the library can make and that an answer can solve.
 * The decision is the same on every node, and temporary failures are thrown. Throws NoUsableItemError.
 */
export async function findUsableItem(
  from: number,
  scoring: 'upstream' | 'hardened',
  make: (retry: number) => Promise<ItemWithEntry>,
): Promise<Candidate> {
  let reason = 'no seed is left'
  let unanswerable = 0
  for (let retry = from; retry < SEEDS_PER_POSITION; retry++) {
    try {
      const item = await make(retry)
      if (scoring === 'upstream' || isAnswerable(item.recipe.task, item.entry)) return { item, retry, unanswerable }
      unanswerable++
      reason = 'hardened scoring pays no answer to it'
    } catch (error) {
      if (!isSeedFailure(error)) throw error
      reason = error.message
    }
  }
  throw new NoUsableItemError(`None of the position's ${SEEDS_PER_POSITION} seeds has an item to train on: ${reason}`)
}

/** Thrown if every seed of a position gives a question of a frozen suite. */
export class HeldOutError extends Error {
  constructor() {
    super(`Each of ${SEEDS_PER_POSITION} seeds gives a question that stands in a frozen suite (exclude_eval_items)`)
  }
}

export interface Candidate {
  item: ItemWithEntry
  retry: number
  /** Number of seeds that were passed over to find it, because no answer to their items is right. */
  unanswerable: number
}

/** How an item was chosen, as stored with it. */
export type ItemChoice = Pick<StorableItem, 'question' | 'passedOver' | 'isRepeated'>

interface AllowedItemDeps {
  settings: Pick<RunSettings, 'exclude_eval_items' | 'avoid_repeated_items'>
  evalQuestions: EvalQuestions
  /**
   * Finds the next item, starting at retry `retry`. Resolves to undefined if no remaining seed has an item to train on.
   */
  findNext: (retry: number) => Promise<Candidate | undefined>
  store: (candidate: Candidate, choice: ItemChoice) => Promise<StoreOutcome>
}

/**
 * Stores the first item whose question is allowed, starting with `candidate`. If all questions that are not held out
 * were asked before, stores the first of those. Throws HeldOutError.
 */
export async function storeAllowedItem(
  candidate: Candidate,
  { settings: { exclude_eval_items, avoid_repeated_items }, evalQuestions, findNext, store }: AllowedItemDeps,
): Promise<void> {
  const passedOver = { evalItems: 0, repeats: 0, unanswerable: candidate.unanswerable }
  let repeat: Candidate | undefined
  for (;;) {
    const question = shortenQuestionHash(hashQuestion(candidate.item.question))
    if (exclude_eval_items && evalQuestions.hasHash(question)) passedOver.evalItems++
    else {
      const choice = { passedOver, question: avoid_repeated_items ? question : undefined }
      if ((await store(candidate, choice)) !== 'asked_before') return
      repeat ??= candidate
      passedOver.repeats++
    }
    const next = await findNext(candidate.retry + 1)
    if (!next) break
    passedOver.unanswerable += next.unanswerable
    candidate = next
  }
  if (!repeat) throw new HeldOutError()
  await store(repeat, { passedOver, isRepeated: true })
}
