/** The bytes that JSON writes numbers with. */

export const SPACE: u32 = 0x20
export const COMMA: u32 = 0x2c
export const MINUS: u32 = 0x2d
export const PLUS: u32 = 0x2b
export const POINT: u32 = 0x2e
export const ZERO: u32 = 0x30
export const SMALL_E: u32 = 0x65
/** What a small letter has more than a capital one. */
export const CASE: u32 = 0x20
/** `null` as four bytes. */
export const NULL: u32 = 0x6c6c756e
