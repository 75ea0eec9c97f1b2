// Names that programs often handle wrongly, for simulations and property tests.

/**
 * Names that are distinct on every file system and on the server, each in the spellings that are equal by Unicode
 * normalization.
 */
export const spellings: readonly (readonly [string, ...string[]])[] = [
  // Composed, decomposed and mixed.
  ['\u00dcbung \u00e9', 'U\u0308bung e\u0301', '\u00dcbung e\u0301'],
  // Marks in another order, and a letter with two marks.
  ['\u1ed9 a\u0323\u0307', 'o\u0323\u0302 a\u0307\u0323', '\u1ecd\u0302 \u1ea1\u0307'],
  // Hangul, and a sign with a canonical equivalent.
  ['\ud55c\uae00 \u212b', '\u1112\u1161\u11ab\u1100\u1173\u11af \u00c5'],
  // Compatibility forms are distinct names.
  ['\ufb01le \u2460 \uff21'],
  ['file 1 A'],
  // Invisible characters: a joiner, a direction mark, a byte order mark.
  ['a\u200db\u200c'],
  ['\u2066rtl\u2069 \ufeff'],
  // Endings that Windows strips, and beginnings that look like options.
  ['dots...'],
  ['space '],
  [' -rf ~'],
  // A family, a flag and a skin tone.
  ['\u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u{1f1e9}\u{1f1ea}\u{1f44b}\u{1f3fd}'],
  // Longest names: of ASCII, of characters with two and four bytes, and of one extension.
  ['x'.repeat(255)],
  [`\u00fc${'\u00df'.repeat(126)}`],
  [`.${'\u{1f600}'.repeat(63)}`],
  // Look like the client's own names.
  ['svc-tmp-0'],
  ['a (conflict A 2026-11-21 0123abcd).txt'],
  ['a (conflict A 2026-11-21 0123abcd 2)'],
  ['trash'],
  ['state.db-wal'],
  ['.svc\u0301', '.sv\u0107'],
]

/** Names that are equal on case-insensitive file systems only. */
export const casePairs: readonly (readonly [string, string, ...string[]])[] = [
  ['Stra\u00dfe', 'STRASSE', 'strasse'],
  ['\u0130', 'i\u0307', 'I\u0307'],
  ['\u039f\u0394\u039f\u03a3', '\u03bf\u03b4\u03bf\u03c2', '\u03bf\u03b4\u03bf\u03c3'],
  ['\ufb03x', 'FFIX'],
  ['\u212a', 'k'],
  ['Readme', 'README'],
]
