/** The members of an object by name, so that objects with the same members give the same text or hash. */
export const sortedEntries = (values: Readonly<Record<string, unknown>>): [name: string, value: unknown][] =>
  Object.keys(values)
    .sort()
    .map((name) => [name, values[name]])
