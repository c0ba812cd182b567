/** Where things are in the memory, for both sides: the caller writes TEXT and reads NUMBERS; POWERS are filled in once. */

/** Bytes of text that one call can read. */
export const MOST_BYTES: i32 = 65536
/** Behind the text is room for its last comma, and for the words that are looked at beyond it. */
export const TEXT: usize = memory.data(65536 + 64, 8)
/** An entry takes two bytes of text with its comma, and a double of eight bytes. */
export const NUMBERS: usize = memory.data(4 * 65536 + 8, 8)

/** Ten to the power of -40 up to 40, 16 bytes each: ../number-lists.ts. */
export const LEAST_POWER: i32 = -40
export const MOST_POWER: i32 = 40
export const POWERS: usize = memory.data(81 * 16, 8)
