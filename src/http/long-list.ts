import { JsonList } from '../domain/json-list.ts'

/** Entries of a list that is put into words as a part of its answer. */
const SHORT = 16

/** A list of an answer; a long one is put into words while others have their turn. */
export const longList = <T>(entries: T[]): T[] | Promise<JsonList<T>> =>
  entries.length <= SHORT ? entries : JsonList.of(entries)
