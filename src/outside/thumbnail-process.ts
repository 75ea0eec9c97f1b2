/** What sharp does for the process below: no types of an optional package. */
interface Pipeline {
  autoOrient(): Pipeline
  resize(width: number, height: number, options: object): Pipeline
  webp(options: object): Pipeline
  toBuffer(): Promise<Buffer>
}

interface Sharp {
  (input: Buffer, options: object): Pipeline
  block(operations: { operation: string[] }): void
  unblock(operations: { operation: string[] }): void
  cache(on: boolean): void
  concurrency(threads: number): void
}

/**
 * The process that decodes images. Reads jobs from standard input: length and edge as 32-bit numbers, then the image.
 * Writes length and outcome, then the thumbnail: 0 made, 1 not an image or damaged, 2 too many pixels.
 *
 * Passed as text, so that it works however the package is bundled: it must use nothing outside its own body.
 */
export function thumbnailProcess(): void {
  const { createRequire } = process.getBuiltinModule('node:module')
  const { writeFileSync } = process.getBuiltinModule('node:fs')
  const { setPriority } = process.getBuiltinModule('node:os')
  const attempt = (step: () => void) => {
    try {
      step()
    } catch {
      // A system without it has one protection less.
    }
  }
  attempt(() => setPriority(10))
  // If memory runs out, this process goes first.
  attempt(() => writeFileSync('/proc/self/oom_score_adj', '1000'))
  const [, path = '', pixels] = process.argv
  const sharp = createRequire(path)(path) as Sharp
  const decoders = ['Jpeg', 'Png', 'Nsgif', 'Webp', 'Heif', 'Tiff', 'Svg'].map((name) => `VipsForeignLoad${name}Buffer`)
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({ operation: decoders })
  sharp.cache(false)
  sharp.concurrency(1)

  // Errors of the call itself, as for an empty file, are answers too.
  const scale = async (image: Buffer, edge: number): Promise<Buffer> =>
    sharp(image, { limitInputPixels: Number(pixels), failOn: 'truncated', sequentialRead: true })
      .autoOrient()
      .resize(edge, edge, { fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 76, effort: 2 })
      .toBuffer()

  function answer(outcome: number, bytes: Buffer): void {
    const head = Buffer.alloc(8)
    head.writeUInt32LE(bytes.length)
    head.writeUInt32LE(outcome, 4)
    process.stdout.write(Buffer.concat([head, bytes]))
  }

  let pieces: Buffer[] = []
  let size = 0
  let wanted: number | undefined
  process.stdin.on('data', (piece: Buffer) => {
    pieces.push(piece)
    size += piece.length
    if (wanted === undefined && size >= 8) {
      pieces = [Buffer.concat(pieces)]
      wanted = pieces[0]!.readUInt32LE() + 8
    }
    if (wanted === undefined || size < wanted) return
    const job = Buffer.concat(pieces)
    pieces = []
    size = 0
    wanted = undefined
    scale(job.subarray(8), job.readUInt32LE(4)).then(
      (bytes) => answer(0, bytes),
      (error: unknown) => answer(String(error).includes('pixel limit') ? 2 : 1, Buffer.alloc(0)),
    )
  })
  // Ready: the time of an image begins when this process has started.
  answer(0, Buffer.alloc(0))
  // The server ended. An image being decoded would delay an ordinary exit.
  process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL'))
}
