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

interface ImportMeta {
  /** Modules of which each is loaded when its function is called, by path. */
  glob(pattern: string): Record<string, () => Promise<unknown>>
}

/** Names of the apps of which the package has a page. */
declare const __APPS__: readonly string[]
