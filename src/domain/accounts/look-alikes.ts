/** Names under which the service itself writes, in the languages of the desktop. */
const AUTHORS = ['Assistant', 'Assistent', 'Former user', 'Ehemaliger Benutzer']

/** Lower-case letters and digits that look like Latin letters, in pairs (Unicode TS 39); `i`, `l` and `1` look like one another. */
const PAIRS = 'аaвbсcеeѐeԁdғfɡgһhнhіiїiӏiјjкkмmոnоoрpԛqгrѕsтtцuѵvԝwхxуyαaεeηnιiκkνvοoρpτtυuχxγyıiɩiℓiǀi0o1ili|i5s'
const LATIN = new Map(Array.from({ length: PAIRS.length / 2 }, (_, at) => [PAIRS[2 * at]!, PAIRS[2 * at + 1]!]))

/** The same for all names that look alike: without case, accents, spaces and what is invisible. */
export const lookOf = (name: string): string =>
  Array.from(
    name
      .normalize('NFKD')
      .toLowerCase()
      .normalize('NFKD')
      .replace(/[\p{M}\p{C}\p{Z}\p{P}\u3164\uffa0]/gu, ''),
    (letter) => LATIN.get(letter) ?? letter,
  ).join('')

const reserved = new Set(AUTHORS.map(lookOf))

/** Whether a name could be taken for one of the service's own authors. */
export const looksLikeService = (name: string): boolean => reserved.has(lookOf(name))
