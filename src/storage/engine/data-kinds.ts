/** What accounts keep in the database beside their files. */
export const dataKinds = ['rows', 'chat', 'components', 'assistant', 'pushes'] as const
export type DataKind = (typeof dataKinds)[number]

/** How much of one kind an account may keep; -1 for no limit. */
export interface DataBound {
  bytes: number
  items: number
}
