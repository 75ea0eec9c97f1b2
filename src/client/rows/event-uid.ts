/** A row of `svc_events`, as far as it identifies the event. */
interface EventIdentity {
  id?: unknown
  uid?: unknown
  created_at?: unknown
}

const hasUid = ({ uid }: EventIdentity): boolean => typeof uid === 'string' && uid !== ''

/** The UID of an event in all programs. One that was made in svc may have none: its ID counts in one account, and its time tells it from others. */
export const eventUid = (row: EventIdentity): string =>
  hasUid(row) ? String(row.uid) : `${String(row.id)}-${Date.parse(String(row.created_at)) || 0}@svc`

/** The UIDs by which changed occurrences name a series. Of one without a UID, older rows name the ID. */
export const seriesUids = (row: EventIdentity): readonly string[] =>
  hasUid(row) ? [eventUid(row)] : [`${String(row.id)}`, eventUid(row)]

interface SeriesIdentity extends EventIdentity {
  recurrence_id?: unknown
  exdates?: unknown
}

/** Gives changed occurrences that name the ID of a series the UID that the series has in all programs. */
export function withSeriesUids<R extends SeriesIdentity>(rows: readonly R[]): readonly R[] {
  const uids = new Map<unknown, string>()
  for (const row of rows) if (!row.recurrence_id && !hasUid(row)) uids.set(`${String(row.id)}`, eventUid(row))
  for (const row of rows) if (!row.recurrence_id) uids.delete(row.uid)
  return rows.map((row) => {
    const uid = row.recurrence_id ? uids.get(row.uid) : undefined
    return uid === undefined ? row : { ...row, uid }
  })
}

/** Tells of changed occurrences whether their series leaves them out: such a one was cancelled later, and does not take place. */
export function leftOutIn(rows: Iterable<SeriesIdentity>): (row: SeriesIdentity) => boolean {
  const leftOut = new Map<unknown, Set<number>>()
  for (const row of rows) {
    if (row.recurrence_id || !Array.isArray(row.exdates)) continue
    const moments = row.exdates.map((date) => Date.parse(String(date)))
    for (const uid of seriesUids(row)) leftOut.set(uid, new Set([...(leftOut.get(uid) ?? []), ...moments]))
  }
  return ({ uid, recurrence_id }) =>
    Boolean(recurrence_id) && leftOut.get(uid)?.has(Date.parse(String(recurrence_id))) === true
}
