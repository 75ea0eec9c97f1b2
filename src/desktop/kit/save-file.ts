/** How long the browser may take to begin reading, ms. */
const KEPT_FOR = 60_000

/** Saves data as a file in the folder for downloads. */
export function saveFile(data: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(data)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_FOR)
}
