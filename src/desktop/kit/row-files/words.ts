import { catalogue } from '../language.ts'

const formats = { ics: 'iCalendar (.ics)', vcf: 'vCard (.vcf)', html: 'HTML (.html)', csv: 'CSV (.csv)' }

/** Messages for import and export. */
export const fileWords = catalogue(
  {
    import: 'Import …',
    export: (format: keyof typeof formats) => `Export as ${formats[format]}`,
    importing: (count: number) => `Importing ${count} entries …`,
    imported: (added: number, updated: number) => `${added} added, ${updated} updated.`,
    cancelled: (count: number) =>
      count === 1 ? '1 cancelled event was left out.' : `${count} cancelled events were left out.`,
    pictures: (count: number) => (count === 1 ? '1 picture was left out.' : `${count} pictures were left out.`),
    groups: (count: number) =>
      count === 1 ? '1 group of contacts was left out.' : `${count} groups of contacts were left out.`,
    addresses: (count: number) =>
      count === 1
        ? '1 address that is not of a web page was left out.'
        : `${count} addresses that are not of web pages were left out.`,
    more_problems: (count: number) => `… and ${count} more`,
    too_large: (size: string) => `The file is larger than ${size}. Import it with svc data import.`,
    not_text: (name: string) => `${name} is not UTF-8 text.`,
    wrong_kind: (name: string, kinds: string) => `${name} is none of the files that can be imported here: ${kinds}.`,
    unreadable: (name: string, reason: string) => `${name} cannot be read. ${reason}`,
  },
  {
    import: 'Importieren …',
    export: (format) => `Als ${formats[format]} exportieren`,
    importing: (count) => `${count} Einträge werden importiert …`,
    imported: (added, updated) => `${added} hinzugefügt, ${updated} aktualisiert.`,
    cancelled: (count) =>
      count === 1 ? '1 abgesagter Termin wurde ausgelassen.' : `${count} abgesagte Termine wurden ausgelassen.`,
    pictures: (count) => (count === 1 ? '1 Bild wurde ausgelassen.' : `${count} Bilder wurden ausgelassen.`),
    groups: (count) =>
      count === 1 ? '1 Kontaktgruppe wurde ausgelassen.' : `${count} Kontaktgruppen wurden ausgelassen.`,
    addresses: (count) =>
      count === 1
        ? '1 Adresse, die keine Webadresse ist, wurde ausgelassen.'
        : `${count} Adressen, die keine Webadressen sind, wurden ausgelassen.`,
    more_problems: (count) => `… und ${count} weitere`,
    too_large: (size) => `Die Datei ist größer als ${size}. Importieren Sie sie mit svc data import.`,
    not_text: (name) => `${name} ist kein Text in UTF-8.`,
    wrong_kind: (name, kinds) => `${name} ist keine Datei, die sich hier importieren lässt: ${kinds}.`,
    unreadable: (name, reason) => `${name} lässt sich nicht lesen. ${reason}`,
  },
)
