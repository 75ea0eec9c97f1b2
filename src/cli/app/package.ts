import { printable } from '../../base/text.ts'
import type { AppPackage, PackageValidation, Remark } from '../../domain/desktop/desktop.ts'
import { Exit } from '../exit.ts'
import type { Io } from '../io.ts'
import type { PackageFiles } from './package-files.ts'

// What the commands that take a package have in common.

/** The argument that names a package. */
export const packageArg = 'folder of the app, or a .tar or .tar.gz of it'

export type InspectedPackage = PackageValidation & Pick<PackageFiles, 'leftOut'>

/** Reads and examines a package. Throws `Exit` when there is none. */
export async function inspectPackage(path: string): Promise<InspectedPackage> {
  const [{ readPackage }, { validatePackage }] = await Promise.all([
    import('./package-files.ts'),
    import('../../domain/desktop/desktop.ts'),
  ])
  const { files, problems, leftOut } = await readPackage(path)
  return { ...validatePackage(files, problems), leftOut }
}

/** A remark as one line. */
export const remarkLine = ({ file, field, message }: Remark): string => {
  const subject = field === undefined ? file || 'the package' : `${file}: ${field}`
  return printable(`${subject} ${message}.`)
}

/** How many problems are shown; a hostile archive has any number. */
const SHOWN = 50

/** Up to so many lines, and how many more there are. */
export function remarkLines(remarks: readonly Remark[]): string[] {
  const more = remarks.length - SHOWN
  return [...remarks.slice(0, SHOWN).map(remarkLine), ...(more > 0 ? [`… and ${more} more.`] : [])]
}

/** The package to install, after what its author should know. Throws `Exit` with every problem when it is not sound. */
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
