// What clients asked for and were shown, from which `checks.ts` judges the servers.

/** The title of the note that all devices of an account change. */
export const LIST = 'list'

/** Whether a request was answered; one that was not may have been carried out. */
type State = 'asked' | 'acknowledged'

/** What one account asked for. */
export interface Asked {
  /** Titles of inserted notes. */
  notes: Map<string, State>
  /** Items appended to the one note that all devices change. */
  items: Map<string, State>
  messages: Map<string, State>
  /** By path: the hash acknowledged last, and those that were asked for since. */
  files: Map<string, { acknowledged: string | undefined; asked: Set<string> }>
}

export const nothingAsked = (): Asked => ({
  notes: new Map(),
  items: new Map(),
  messages: new Map(),
  files: new Map(),
})

/** What one device was shown by the feed. */
export interface Shown {
  cursor: number
  rows: Map<string, Record<string, unknown>>
  /** Rows that never change, in the order in which they appeared. */
  appeared: string[]
  /** What contradicts the promises of the feed. */
  anomalies: string[]
}

export const nothingShown = (): Shown => ({ cursor: 0, rows: new Map(), appeared: [], anomalies: [] })

interface Change {
  table: string
  operation: string
  data: Record<string, unknown>
  cursor: number
}

/** Takes in a page. `known` is a position that the device was told before it asked. */
export function show(
  shown: Shown,
  page: { changes: Change[]; cursor: number; has_more: boolean },
  known: number,
): void {
  let last = shown.cursor
  for (const { table, operation, data, cursor } of page.changes) {
    if (cursor <= last) shown.anomalies.push(`change ${cursor} came after ${last}`)
    last = cursor
    const key = `${table} ${String(data['id'])}`
    if (operation === 'INSERT' && shown.rows.has(key)) shown.anomalies.push(`${key} was inserted twice`)
    // An UPDATE may come first: the feed calls a row new only if it was created after the cursor of the page.
    if (operation === 'DELETE') shown.rows.delete(key)
    else {
      const neverChanges = table === 'svc_messages' || (table === 'svc_notes' && data['title'] !== LIST)
      if (!shown.rows.has(key) && neverChanges) shown.appeared.push(key)
      shown.rows.set(key, data)
    }
  }
  if (page.cursor < last) shown.anomalies.push(`the page ends at ${page.cursor}, before its change ${last}`)
  if (!page.has_more && page.cursor < known) shown.anomalies.push(`the feed ends at ${page.cursor}, before ${known}`)
  shown.cursor = page.cursor
}
