/** The pinned version of the library, as in requirements.txt: part of every item's identity. */
export const ENGINE_VERSION = '0.1.25'
