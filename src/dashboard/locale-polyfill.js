/**
 * Gives the browser a language that it can write numbers in, before uPlot asks for it: where no locale is set (LANG=C),
 * Chromium names `en-US@posix`, which its own Intl refuses.
 */
try {
  Intl.NumberFormat(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en', configurable: true })
}
