/** A setting is invalid. The message is one line that names it. */
export class ConfigError extends Error {}
