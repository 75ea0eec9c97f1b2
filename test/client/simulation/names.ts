import type { Random } from '../../support/random.ts'
import { kinds, type Kind } from './disk/kinds.ts'
import type { Deed } from './users.ts'
import type { Name, Story, Turn } from './story.ts'

/** Names that some disk, or somebody, takes for one another, or that are hard to keep. */
export const themes: Record<string, readonly string[]> = {
  composed: ['Übungen', 'U\u0308bungen', 'Übungen é', 'U\u0308bungen é', 'Übungen e\u0301'],
  compatible: ['ﬁle', 'file', '\u212bng', '\u00c5ng', 'A\u030ang'],
  sharp: ['Straße', 'STRASSE', 'STRAẞE', 'strasse'],
  dotted: ['İx', 'ix', 'i\u0307x', 'Ix', 'ıx'],
  sigma: ['ΟΔΟΣ', 'οδος', 'οδοσ'],
  invisible: ['a\u200db', 'ab', 'a\u200bb', '👩‍💻', '👩💻', '👩🏽‍💻'],
  trailing: ['a.', 'a', 'a ', 'a. ', '.a'],
  long: [
    'n'.repeat(255),
    `${'ü'.repeat(127)}n`,
    `${'u\u0308'.repeat(85)}`,
    `${'漢'.repeat(85)}`,
    `${'n'.repeat(250)}.text`,
  ],
  own: ['.svc ', '.SVC', 'ROOT.JSON', 'a (conflict A 2026-11-21 01234567).txt', '.svc\u200d'],
  cases: ['a', 'A', 'b', 'B'],
}

const LETTERS = ['a', 'b', 'c']

/** Tells a story once more, of other names and on disks of other kinds. */
export function disguised(story: Story, random: Random): Story {
  const names = Object.keys(themes)
  const theme = random.of(names)
  const spellings: Record<string, readonly string[]> = { a: themes[theme]!, b: themes[theme]! }
  spellings['c'] = random.below(2) === 0 ? themes[theme]! : themes[random.of(names)]!
  const spell = (path: string): string =>
    path.replace(/[^/]+/g, (name) => (LETTERS.includes(name) ? random.of(spellings[name]!) : name))
  const spellDeed = <D extends Deed>(deed: D): D =>
    ({ ...deed, path: spell(deed.path), ...('to' in deed ? { to: spell(deed.to) } : {}) }) as D
  const turns = story.turns.map((turn): Turn => {
    if ('deed' in turn) return { ...turn, deed: spellDeed(turn.deed) }
    return 'path' in turn ? spellDeed(turn) : turn
  })
  const disks = Object.fromEntries((['A', 'B'] as const).map((name) => [name, random.of(kinds)])) as Record<Name, Kind>
  return { ...story, turns, disks, theme }
}
