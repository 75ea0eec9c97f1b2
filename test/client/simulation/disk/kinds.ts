import { saw } from '../seen.ts'

/** How a disk takes names: as their bytes are, any spelling for the one that is there, or besides that taken apart when they are kept. */
export const kinds = ['exact', 'lenient', 'decomposing'] as const
export type Kind = (typeof kinds)[number]

/** What a name is compared by. Lower case first: it takes "ẞ" to "ß", which upper case alone takes to "SS". */
export const foldName = (name: string): string =>
  Array.from(name.normalize('NFD').toLowerCase(), (letter) => (letter === 'ı' ? letter : letter.toUpperCase()))
    .join('')
    .normalize('NFD')

/** How a folder spells a name that somebody asks it for. */
export function spelledIn(entries: ReadonlyMap<string, unknown>, name: string, kind: Kind): string {
  if (kind === 'exact' || entries.has(name)) return name
  const folded = foldName(name)
  for (const each of entries.keys()) {
    if (foldName(each) !== folded) continue
    saw('found by another spelling')
    return each
  }
  return kept(name, kind)
}

/** How a new name is kept. */
export function kept(name: string, kind: Kind): string {
  const stored = kind === 'decomposing' ? name.normalize('NFD') : name
  if (stored !== name) saw('taken apart')
  return stored
}

const MOST = 255

/** Whether a disk has no room for a name: it counts bytes, or units of UTF-16. */
export const isTooLong = (name: string, kind: Kind): boolean =>
  (kind === 'exact' ? Buffer.byteLength(name) : name.length) > MOST
