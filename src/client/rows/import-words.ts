import type { Column } from '../../contract/tables.ts'

/** Where and why something of a file is not taken over, in English; other languages have the same functions. */
export const importWords = {
  the_file: 'the file',
  line: (line: number) => `line ${line}`,
  row: (position: number) => `row ${position}`,
  event: (position: number, line: number) => `event ${position} (line ${line})`,
  bookmark: (position: number, line: number) => `bookmark ${position} (line ${line})`,
  contact: (position: number, line: number) => `contact ${position} (line ${line})`,

  cut_off: (end: string) => `it is cut off: its last line is not ${end}.`,
  no_events: 'it has no events.',
  no_contacts: 'it has no contacts.',
  no_bookmarks: 'it has no bookmarks.',
  folder_cut_off: 'it is cut off: a folder has no end (</DL>).',
  address_long: (most: number) => `its address has more than ${most} characters.`,
  too_long: (most: number) => `it has more than ${most} characters.`,
  unreadable: (reason: string) => `it cannot be read: ${reason}.`,
  no_beginning: 'it has no beginning.',
  time_range: (first: number, last: number) => `a time of it is not between the years ${first} and ${last}`,
  year_range: (year: number, first: number, last: number) => `the year ${year} is not between ${first} and ${last}`,
  zone_unknown: (zone: string) => `its time zone "${zone}" is not known, and the file does not define it`,
  zone_unreadable: (zone: string, own: string) =>
    `its time zone "${zone}" cannot be read; its times are taken for those of ${own}.`,
  zone_unlike: (zone: string) => `its time zone "${zone}" is like none that is known; it repeats by UTC.`,
  several_rules: (count: number) => `it has ${count} rules; only the first is used.`,
  exception_rule: 'its rule of exceptions (EXRULE) is not used.',
  reminder_without_time: 'a reminder has no time and is left out.',
  reminder_fixed: 'a reminder at a fixed time does not repeat with the series and is left out.',
  reminder_far: (most: number) => `a reminder is more than ${most} minutes from the start and is left out.`,
  reminders_many: (most: number) => `it has more than ${most} reminders; the others are left out.`,
  following: (reason: string) => `it changes all that follow; only this one is changed, because ${reason}.`,
  following_days: 'it begins or ends to be of whole days',
  following_rule: 'its rule names other days',
  following_count: 'its rule has a number of times',
  following_series: 'its series is not in the file',
  no_name: 'it has no name, company, e-mail address or phone number.',
  name_cut: (most: number) => `its name has more than ${most} characters and is shortened.`,
  email_left: (most: number) => `an e-mail address has more than ${most} characters and is left out.`,
  phone_left: (most: number) => `a phone number has more than ${most} characters and is left out.`,
  many_left: (most: number) => `it has more than ${most} e-mail addresses or phone numbers; the others are left out.`,

  broken_json: (reason: string) => `The JSON cannot be read: ${reason}.`,
  broken_line: (line: number, reason: string) => `Line ${line} cannot be read: ${reason}.`,
  broken_csv: (reason: string) => reason,
  no_object: 'a row must be a JSON object.',
  no_column: (table: string, column: string, known: string) => `${table} has no column "${column}": it has ${known}.`,
  column_twice: (line: number, column: string) => `Line ${line}: the column "${column}" is there twice.`,
  column_unknown: (line: number, column: string, table: string, known: string) =>
    `Line ${line}: ${table} has no column "${column}": it has ${known}.`,
  other_fields: (fields: number, columns: number) => `it has ${fields} fields but the first line has ${columns}.`,
  is_missing: (column: string) => `${column} is missing.`,
  must_be: (column: string, what: string, value: string) => `${column} must be ${what}, not "${value}".`,
  whole_number: (range: string) => `a whole number${range}`,
  number: (range: string) => `a number${range}`,
  range: (min: number, max: number) => ` from ${min} to ${max}`,
  boolean: 'true or false',
  texts: (max: Column['max']) => `a list of texts such as ["tea","hot"], in JSON of at most ${max} characters`,
  texts_like: (pattern: string, max: Column['max']) =>
    `a list of texts that match ${pattern}, in JSON of at most ${max} characters`,
  date: 'a date such as 2026-11-21',
  timestamp: 'a time such as 2026-11-21T15:00:00Z',
  one_of: (values: readonly string[]) => values.join(' or '),
  text_like: (pattern: string) => `a text that matches ${pattern}`,
  text: (max: Column['max']) => `a text of at most ${max} characters`,
}

export type ImportWords = typeof importWords

/** A part of a file that is not read; the message says why. */
export class UnreadablePart extends Error {
  override name = 'UnreadablePart'
}
