/** Something that the server needs is missing; the message is one line that says what to do. */
export class StartupError extends Error {}
