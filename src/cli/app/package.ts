import { printable } from '../../base/text.ts'
import type { AppPackage, PackageValidation, Remark } from '../../domain/desktop/desktop.ts'
import { Exit } from '../exit.ts'
import type { Io } from '../io.ts'
import type { PackageFiles } from './package-files.ts'

export const packageArg = 'folder of the app, or a .tar or .tar.gz of it'

export type InspectedPackage = PackageValidation & Pick<PackageFiles, 'leftOut'>

/** Reads and validates a package. Throws `Exit` if there is none. */
export async function inspectPackage(path: string): Promise<InspectedPackage> {
  const [{ readPackage }, { validatePackage }] = await Promise.all([
    import('./package-files.ts'),
    import('../../domain/desktop/desktop.ts'),
  ])
  const { files, problems, leftOut } = await readPackage(path)
  return { ...validatePackage(files, problems), leftOut }
}

export const remarkLine = ({ file, field, message }: Remark): string => {
  const subject = field === undefined ? file || 'the package' : `${file}: ${field}`
  return printable(`${subject} ${message}.`)
}

/** Most problems shown; a hostile archive can have any number. */
const MAX_LISTED = 50

/** Formats at most `MAX_LISTED` remarks and the number of the others. */
export function remarkLines(remarks: readonly Remark[]): string[] {
  const more = remarks.length - MAX_LISTED
  return [...remarks.slice(0, MAX_LISTED).map(remarkLine), ...(more > 0 ? [`… and ${more} more.`] : [])]
}

/** Loads a package and prints warnings for its author. Throws `Exit` with every problem if it is invalid. */
export async function loadPackage(io: Io, path: string): Promise<AppPackage> {
  const { app, problems, warnings } = await inspectPackage(path)
  if (!app) {
    const lines = remarkLines(problems).map((line) => `  ${line}`)
    throw new Exit(
      1,
      [`This package cannot be installed, and nothing was changed:`, ...lines].join('\n'),
      'bad_package',
    )
  }
  for (const line of remarkLines(warnings)) io.warn(line)
  return app
}
