/**
 * Sets a language that Intl accepts before uPlot reads it. Without a locale (LANG=C), Chromium reports `en-US@posix`,
 * which its own Intl rejects.
 */
try {
  Intl.NumberFormat(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en', configurable: true })
}
