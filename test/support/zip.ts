import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { temporaryFolder } from './folder.ts'

/** An entry as read by Python's `zipfile`. */
export interface Unzipped {
  name: string
  size: number
  /** Of the content as read; its CRC was verified. */
  sha256: string
  /** From the UTC extra field, epoch seconds; null if absent. */
  mtime: number | null
  /** Year, month, day, hour, minute and second in the writer's local time. */
  wall: number[]
  /** Unix permissions and file type. */
  mode: number
  /** Flag for UTF-8 names. */
  utf8: boolean
}

const READER = `
import hashlib, json, struct, sys, zipfile
def utc(extra):
    while len(extra) >= 4:
        kind, size = struct.unpack('<HH', extra[:4])
        if kind == 0x5455: return struct.unpack('<I', extra[5:9])[0]
        extra = extra[4 + size:]
found = []
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    for info in archive.infolist():
        sum = hashlib.sha256()
        with archive.open(info) as content:
            for piece in iter(lambda: content.read(1 << 20), b''): sum.update(piece)
        found.append({'name': info.orig_filename, 'size': info.file_size, 'sha256': sum.hexdigest(), 'mtime': utc(info.extra),
            'wall': list(info.date_time), 'mode': info.external_attr >> 16, 'utf8': bool(info.flag_bits & 0x800)})
print(json.dumps(found))
`

/** Reads a whole archive with an independent implementation. */
export async function unzipped(archive: Uint8Array): Promise<Unzipped[]> {
  const folder = await temporaryFolder()
  try {
    const path = join(folder, 'archive.zip')
    await writeFile(path, archive)
    const { stdout } = await promisify(execFile)('python3', ['-c', READER, path], { maxBuffer: 256 << 20 })
    return JSON.parse(stdout) as Unzipped[]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
