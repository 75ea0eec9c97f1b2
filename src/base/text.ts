// C0, DEL and C1 controls, the line and paragraph separators, and the characters that reorder text on a screen (Unicode TR 36,
// bidirectional spoofing).
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Makes untrusted text safe for a terminal line: control and bidirectional characters become U+FFFD. */
export const printable = (text: string): string => text.replace(UNPRINTABLE, '\ufffd')

/** Whether a string can be stored and sent unchanged: no NUL, no lone surrogate. */
export const isSound = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

const encoder = new TextEncoder()

/** Length in UTF-8 bytes. */
export const byteLength = (text: string): number => encoder.encode(text).length

/** Whether a text has at most `max` UTF-8 bytes; most texts need no counting. */
export const fitsBytes = (text: string, max: number): boolean =>
  text.length <= max && (text.length * 3 <= max || byteLength(text) <= max)
