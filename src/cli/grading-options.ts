/** Descriptions of the grading options that several commands share. */

export const EXTRACTION_DESCRIPTION =
  'how to find the answer in a completion. strict: in exactly one pair of answer tags; last_tag: in the last pair; tag_or_boxed: in tags or in \\boxed{}; bare: the whole completion'
export const DUAL_FORMAT_DESCRIPTION =
  'score the answer only as it stands; by default it is also scored wrapped in answer tags, and the higher score counts'
export const SCORING_DESCRIPTION =
  'upstream: the scores of the library; hardened: the same with known reward hacks closed'
