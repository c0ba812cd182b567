/** Saves data of the page as a file, or copies it. */

export function saveText(name, text, type) {
  saveBlob(name, new Blob([text], { type }))
}

export function saveBlob(name, blob) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/** False if the browser forbids it, as on pages without TLS. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
