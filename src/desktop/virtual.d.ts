declare module 'virtual:wire-actions' {
  export const wireActions: Record<
    string,
    {
      name: string
      path: string
      method: 'GET' | 'POST'
      sends?: 'json' | 'bytes'
      answers?: 'json' | 'large' | 'bytes'
      streams?: true
    }
  >
}

/** Slugs of the built-in apps with a page. */
declare const __APPS__: readonly string[]

/** The text of a file. */
declare module '*?raw' {
  const text: string
  export default text
}
