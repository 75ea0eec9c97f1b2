import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The folder of the built desktop: beside the bundle, or in the repository when the sources run directly. */
export function desktopFolder(): string {
  const beside = fileURLToPath(new URL('./desktop/', import.meta.url))
  return existsSync(`${beside}index.html`) ? beside : fileURLToPath(new URL('../../dist/desktop/', import.meta.url))
}
