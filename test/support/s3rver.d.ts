// Types of a package without types, as far as the tests use it.
declare module 's3rver' {
  import type { Readable } from 'node:stream'

  interface Stored {
    bucket: string
    key: string
    content: Readable
    metadata: Record<string, string>
  }

  interface Store {
    rootDirectory: string
    getResourcePath(bucket: string, key: string | undefined, resource: string): string
    getObject(bucket: string, key: string, options?: { start?: number; end?: number | string }): Promise<unknown>
    putObject(object: Stored): Promise<{ size: number; md5: string }>
    putMetadata(bucket: string, key: string, metadata: Record<string, string>, md5: string): Promise<void>
    deleteObject(bucket: string, key: string): Promise<void>
  }

  interface Asked {
    method: string
    path: string
    query: Record<string, string>
    status: number
    type: string
    body: string
    params: unknown
  }

  class S3rver {
    constructor(options: { address: string; port: number; silent: boolean; directory: string; vhostBuckets: boolean })
    store: Store
    middleware: ((asked: Asked, next: () => Promise<void>) => Promise<void>)[]
    run(): Promise<{ port: number }>
  }

  export = S3rver
}
