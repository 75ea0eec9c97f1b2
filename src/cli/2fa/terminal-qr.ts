import qr from 'qrcode-terminal'
import type { Io } from '../io.ts'

/** A QR code in block characters, light on dark whatever the colours of the terminal are. */
export function terminalQr(text: string, paint: Io['paint']): string {
  let drawn = ''
  qr.generate(text, { small: true }, (code) => (drawn = code))
  return drawn
    .trimEnd()
    .split('\n')
    .map((line) => `  ${paint.whiteBright.bgBlack(line)}`)
    .join('\n')
}
