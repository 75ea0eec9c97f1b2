import { loadExchange, type ExchangeName } from '../../../client/rows/file-formats.ts'
import type { CalendarFile } from '../../../client/rows/calendars.ts'
import type { TableName } from '../../../contract/tables.ts'
import { saveFile } from '../save-file.ts'

export const MIME = { ics: 'text/calendar', vcf: 'text/vcard', html: 'text/html', csv: 'text/csv' }

/** Saves rows in their order as a file of the browser; `calendar` is what the file says of them. */
export async function saveRows(
  table: TableName,
  rows: readonly { id: number }[],
  { format, name, calendar }: { format: ExchangeName | 'csv'; name: string; calendar?: CalendarFile },
): Promise<void> {
  const sorted = rows.toSorted((a, b) => a.id - b.id) as unknown as Record<string, unknown>[]
  const text =
    format === 'csv'
      ? (await import('../../../client/rows/row-files.ts')).formatRows(table, sorted, 'csv')
      : (await loadExchange(format, table, 'write')).write(sorted, calendar)
  saveFile(new Blob([text], { type: MIME[format] }), `${name}.${format}`)
}
