import { usage } from '../exit.ts'

/** Parses a row ID; negative for a row that the server has not numbered yet. */
export function rowId(text: string): number {
  const id = Number(text)
  if (!/^-?\d{1,15}$/.test(text) || id === 0)
    throw usage(`"${text}" is not the id of a row: an id is a whole number, as in svc data list.`)
  return id
}
