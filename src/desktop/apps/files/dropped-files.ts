import type { Sendable } from './uploads.ts'

const readBatch = (reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> =>
  new Promise((resolve, reject) => reader.readEntries(resolve, reject))

/** Everything below an entry; empty folders are included. */
async function* walk(entry: FileSystemEntry, prefix: string): AsyncGenerator<Sendable> {
  const path = prefix + entry.name
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
    yield { path, file }
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  let isEmpty = true
  // `readEntries` returns at most a hundred entries per call, and none at the end.
  for (let batch = await readBatch(reader); batch.length > 0; batch = await readBatch(reader)) {
    isEmpty = false
    for (const inner of batch) yield* walk(inner, `${path}/`)
  }
  if (isEmpty) yield { path, file: undefined }
}

/** Dropped files and folders. Must be called in the `drop` event: browsers discard the data afterwards. */
export function readDropped(data: DataTransfer): Promise<Sendable[]> {
  const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry() ?? [])
  const files = [...data.files]
  return (async () => {
    if (entries.length === 0) return files.map((file) => ({ path: file.name, file }))
    const all: Sendable[] = []
    for (const entry of entries) for await (const sendable of walk(entry, '')) all.push(sendable)
    return all
  })()
}

export const readChosen = (files: FileList | null): Sendable[] =>
  [...(files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }))
