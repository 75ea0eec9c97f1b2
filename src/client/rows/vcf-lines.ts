import ICAL from 'ical.js'

// The content lines of a vCard. Version 2.1 has parameters without a name, quoted-printable texts and other escapes; its lines
// become those of version 3.0 (RFC 2426), which are read like those of 4.0 (RFC 6350).

export interface VcardLine {
  /** Of the property, in lower case and without its group. */
  name: string
  /** As in the file, with its folds. */
  raw: string
}

/** The position of the colon between the head of a line and its value; -1 if there is none. */
function colonOf(line: string): number {
  let isQuoted = false
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '"') isQuoted = !isQuoted
    else if (line[at] === ':' && !isQuoted) return at
  }
  return line.indexOf(':')
}

const QUOTED_PRINTABLE = /;(?:ENCODING=)?"?QUOTED-PRINTABLE\b/i

/** Joins the lines of a card that belong together. */
export function vcardLines(card: string): VcardLine[] {
  const lines: { raw: string[]; isEncoded: boolean }[] = []
  for (const line of card.split('\n')) {
    const last = lines.at(-1)
    const isContinued = /^[ \t]/.test(line) || (last?.isEncoded && last.raw.at(-1)!.trimEnd().endsWith('='))
    if (last && isContinued) last.raw.push(line)
    else if (line.trim() !== '') {
      const isEncoded = QUOTED_PRINTABLE.test(line.slice(0, Math.max(0, colonOf(line))))
      lines.push({ raw: [line], isEncoded })
    }
  }
  return lines.map(({ raw }) => ({
    name: (/^(?:[\w-]+\.)?([\w-]+)/.exec(raw[0]!)?.[1] ?? '').toLowerCase(),
    raw: raw.join('\n'),
  }))
}

function decodeQuotedPrintable(text: string, charset: string): string {
  const bytes: number[] = []
  for (const part of text.replaceAll(/=[ \t]*\n/g, '').split(/(=[0-9A-F]{2})/i)) {
    if (/^=[0-9A-F]{2}$/i.test(part)) bytes.push(parseInt(part.slice(1), 16))
    else for (const byte of new TextEncoder().encode(part)) bytes.push(byte)
  }
  try {
    return new TextDecoder(charset).decode(Uint8Array.from(bytes))
  } catch {
    return new TextDecoder().decode(Uint8Array.from(bytes))
  }
}

const STRUCTURED = new Set(['n', 'adr', 'org'])
const TEXTS = new Set(['fn', 'note', 'title', 'role', 'nickname', 'label'])

/** A text of version 2.1 as one of 3.0, where commas separate values too. */
function escaped(name: string, value: string): string {
  const text = value.replaceAll(/\r\n|\r|\n/g, String.raw`\n`)
  if (STRUCTURED.has(name)) return text.replaceAll(/\\(?![\\;,nN])|(?<!\\),/g, String.raw`\$&`)
  return TEXTS.has(name) ? text.replaceAll(/\\(?![\\;,nN])|(?<!\\)[,;]/g, String.raw`\$&`) : text
}

/** A line of version 2.1 as one of 3.0. */
function modernized({ name, raw }: VcardLine): string {
  const at = colonOf(raw)
  if (name === 'version') return 'VERSION:3.0'
  if (at === -1) return raw
  const [property, ...parameters] = raw
    .slice(0, at)
    .replaceAll(/\n[ \t]/g, '')
    .split(';')
  const isEncoded = QUOTED_PRINTABLE.test(raw.slice(0, at))
  const charset = parameters.map((one) => /^CHARSET=(.+)$/i.exec(one)?.[1]).find((one) => one !== undefined)
  const kept = parameters
    .filter((one) => !/^(?:ENCODING=|CHARSET=|QUOTED-PRINTABLE$|BASE64$|[78]BIT$)/i.test(one))
    .map((one) => (one.includes('=') ? one : `TYPE=${one}`))
  const value = raw.slice(at + 1)
  const text = isEncoded ? decodeQuotedPrintable(value, charset ?? 'utf-8') : value.replaceAll(/\n(?=[ \t])/g, '')
  return ICAL.helpers.foldline(`${[property, ...kept].join(';')}:${escaped(name, text)}`).replaceAll('\r\n', '\n')
}

const MEDIA = new Set(['photo', 'logo', 'sound'])

/** A value with the content itself. */
const INLINE = /:data:/i

const beginOf = (raw: string): string => raw.slice(0, 500).replaceAll(/\n[ \t]/g, '')

/** Whether a line has a picture or a sound, not the address of one. */
const isMedia = ({ name, raw }: VcardLine): boolean =>
  MEDIA.has(name) && (INLINE.test(beginOf(raw)) || !/(?:VALUE="?ur[il]|:https?:)/i.test(beginOf(raw)))

/** The text of a card without its pictures and sounds, in version 3.0 or later; how many were left out. */
export function modernCard(card: string): { text: string; media: number } {
  const lines = vcardLines(card)
  const isOld = !lines.some(({ name, raw }) => name === 'version' && /:\s*[34]\./.test(raw))
  const hasVersion = lines.some(({ name }) => name === 'version')
  const kept = lines.filter((line) => !isMedia(line) && (line.name !== '' || /[:]/.test(line.raw)))
  const texts = kept.flatMap((line) => {
    const isBegin = line.name === 'begin'
    const text = isOld || QUOTED_PRINTABLE.test(line.raw) || isBareType(line.raw) ? modernized(line) : line.raw
    return isBegin && !hasVersion ? [text, 'VERSION:3.0'] : [text]
  })
  return { text: texts.join('\n'), media: lines.filter(isMedia).length }
}

/** Whether a line has a parameter without a name. */
function isBareType(raw: string): boolean {
  const head = raw.slice(0, Math.max(0, colonOf(raw))).replaceAll(/"[^"]*"/g, '""')
  return head
    .split(';')
    .slice(1)
    .some((one) => !one.includes('='))
}
