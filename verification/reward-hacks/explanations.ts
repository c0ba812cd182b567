/** Why a ploy may earn what it does: it is right by chance, and no rule can tell a right answer from a lucky one. */
import type { RewardHack } from './search.ts'

/** More than the base rate by so much is noise. */
const BASE_RATE_NOISE = 0.005

const CHANCE_REASONS: Readonly<Record<string, string>> = {
  circuit_logic: 'the answer is 0 or 1',
  graph_color: 'with so few edges one coloring fits many graphs',
  knights_knaves: 'two people have four ways to be',
  lcm: 'some numbers are multiples of the others',
  list_functions: 'some functions leave the list as it is',
  modulo_grid: 'one hole has two ways to be filled',
  n_queens: 'with one queen given a board fits many puzzles',
  number_format: 'the numbers to choose from are few',
  number_sequence: 'some sequences end by repeating themselves',
  palindrome_generation: 'some letters are given in the order of a palindrome',
  polynomial_equations: 'the only root of many equations is 0',
  pool_matrix: 'pools of one number leave the matrix as it is',
  prime_factorization: 'some numbers are prime',
  propositional_logic: 'sometimes a variable follows by itself',
  rearc: 'some outputs equal the input',
  rotate_matrix: 'some turns are full ones',
  string_insertion: 'the library inserts nothing into most strings',
  string_manipulation: 'some strings are changed by no rule',
}

/** Undefined where there is none. */
export function getRewardHackReason({ task, mean, right, base }: RewardHack): string | undefined {
  if (mean <= base + BASE_RATE_NOISE)
    return `base rate: the commonest right answer is right for ${(base * 100).toFixed(1)} %`
  const choice = CHANCE_REASONS[task]
  return choice !== undefined && mean - right < BASE_RATE_NOISE ? `right by chance: ${choice}` : undefined
}
