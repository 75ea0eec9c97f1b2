import { createHash } from 'node:crypto'

/** Password padding (ISO 32000-1, 7.6.3.3). */
const PAD = Buffer.from('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a', 'hex')

const md5 = (...parts: Uint8Array[]): Buffer => createHash('md5').update(Buffer.concat(parts)).digest()

/** RC4, which OpenSSL no longer supports. */
function rc4(key: Uint8Array, data: Uint8Array): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, at) => at)
  const swap = (a: number, b: number) => ([state[a], state[b]] = [state[b]!, state[a]!])
  let j = 0
  for (let i = 0; i < 256; i++) {
    j = (j + state[i]! + key[i % key.length]!) % 256
    swap(i, j)
  }
  let i = (j = 0)
  const sealed = Uint8Array.from(data, (byte) => {
    i = (i + 1) % 256
    j = (j + state[i]!) % 256
    swap(i, j)
    return byte ^ state[(state[i]! + state[j]!) % 256]!
  })
  return Buffer.from(sealed)
}

interface Locked {
  /** The entry of the trailer. */
  dictionary: string
  seal(object: number, data: Buffer): Buffer
}

/** Encrypts with the standard security handler, revision 2: RC4 with 40 bits. */
function lock(password: string, id: Buffer): Locked {
  const padded = Buffer.concat([Buffer.from(password), PAD], 32)
  const owner = rc4(md5(padded).subarray(0, 5), padded)
  const rights = Buffer.alloc(4)
  rights.writeInt32LE(-4)
  const key = md5(padded, owner, rights, id).subarray(0, 5)
  const user = rc4(key, PAD)
  return {
    dictionary: `/Encrypt << /Filter /Standard /V 1 /R 2 /O <${owner.toString('hex')}> /U <${user.toString('hex')}> /P -4 >>`,
    seal: (object, data) => rc4(md5(key, Buffer.from([object & 255, object >> 8, 0, 0, 0])).subarray(0, 10), data),
  }
}

interface Options {
  /** Encrypts the file. */
  password?: string
  /** Content added to the first page unchanged. */
  drawing?: string
}

/** A PDF with one page per text, ASCII only. */
export function makePdf(texts: readonly string[], { password, drawing = '' }: Options = {}): Buffer {
  const id = md5(Buffer.from(texts.join('\n')))
  const locked = password === undefined ? undefined : lock(password, id)
  const pages = texts.map((_, index) => 4 + 2 * index)
  const objects: Buffer[] = [
    Buffer.from('<< /Type /Catalog /Pages 2 0 R >>'),
    Buffer.from(`<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((page) => `${page} 0 R`).join(' ')}] >>`),
    Buffer.from('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'),
    ...texts.flatMap((text, index) => {
      const number = pages[index]! + 1
      const plain = Buffer.from(`BT /F1 24 Tf 60 700 Td (${text}) Tj ET\n${index === 0 ? drawing : ''}`)
      const stream = locked?.seal(number, plain) ?? plain
      return [
        Buffer.from(
          `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${number} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
        ),
        Buffer.concat([Buffer.from(`<< /Length ${stream.length} >>\nstream\n`), stream, Buffer.from('\nendstream')]),
      ]
    }),
  ]
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')]
  const length = () => parts.reduce((sum, part) => sum + part.length, 0)
  const places = objects.map((object, index) => {
    const at = length()
    parts.push(Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n'))
    return at
  })
  const table = length()
  const hex = id.toString('hex')
  parts.push(
    Buffer.from(
      [
        `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`,
        ...places.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`),
        `trailer << /Size ${objects.length + 1} /Root 1 0 R /ID [<${hex}> <${hex}>] ${locked?.dictionary ?? ''} >>\n`,
        `startxref\n${table}\n%%EOF\n`,
      ].join(''),
    ),
  )
  return Buffer.concat(parts)
}
