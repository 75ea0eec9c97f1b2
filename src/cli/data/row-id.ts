import { usage } from '../exit.ts'

/** The id of a row as it is written on the command line; negative for one that the server has given none yet. */
export function rowId(text: string): number {
  const id = Number(text)
  if (!/^-?\d{1,15}$/.test(text) || id === 0)
    throw usage(`"${text}" is not the id of a row: it is a whole number, as svc data list shows it.`)
  return id
}
