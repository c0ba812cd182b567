/** Groups with the token arrays that trainers send: tokens, masks and log-probabilities of each rollout. */

const VOCABULARY_SIZE = 151_000
const PROMPT_TOKENS = 256

export interface TokenArrays {
  tokens: number[]
  masks: number[]
  logprobs: number[]
}

/** Log-probabilities are as `float32` prints them. */
export function generateTokenArrays(rollouts: number, tokensPerRollout: number): TokenArrays[] {
  return Array.from({ length: rollouts }, () => {
    const tokens = Array.from({ length: tokensPerRollout }, () => Math.floor(Math.random() * VOCABULARY_SIZE))
    return {
      tokens,
      masks: tokens.map((token, k) => (k < PROMPT_TOKENS ? -100 : token)),
      logprobs: tokens.map((_, k) => (k < PROMPT_TOKENS ? 1 : Math.fround(Math.log(1 - Math.random()) / 3))),
    }
  })
}

/** The same as base64 of `int32` and `float32`. */
export function encodeTypedArrays({ tokens, masks, logprobs }: TokenArrays) {
  const typed = (dtype: string, { buffer }: Int32Array | Float32Array) => ({
    dtype,
    data: Buffer.from(buffer).toString('base64'),
  })
  return {
    tokens: typed('int32', Int32Array.from(tokens)),
    masks: typed('int32', Int32Array.from(masks)),
    logprobs: typed('float32', Float32Array.from(logprobs)),
  }
}
