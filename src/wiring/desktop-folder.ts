import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where the built desktop lies: beside the bundle, or below the repository when the sources run themselves. */
export function desktopFolder(): string {
  const beside = fileURLToPath(new URL('./desktop/', import.meta.url))
  return existsSync(`${beside}index.html`) ? beside : fileURLToPath(new URL('../../dist/desktop/', import.meta.url))
}
