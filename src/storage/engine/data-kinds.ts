/** Kinds of data of an account outside its files. */
export const dataKinds = ['rows', 'chat', 'components', 'assistant', 'pushes'] as const
export type DataKind = (typeof dataKinds)[number]

/** Limit of one kind; -1 for none. */
export interface DataBound {
  bytes: number
  items: number
}
