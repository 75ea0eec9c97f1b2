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

/** Names of the apps of which the package has a page. */
declare const __APPS__: readonly string[]

/** A file as text. */
declare module '*?raw' {
  const text: string
  export default text
}
