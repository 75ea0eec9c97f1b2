import qr from 'qrcode-terminal'
import type { Io } from '../io.ts'

/** Draws a QR code in half blocks, dark on light whatever the terminal's colours are. */
export function terminalQr(text: string, paint: Io['paint']): string {
  let drawn = ''
  qr.generate(text, { small: true }, (code) => (drawn = code))
  return withQuietZone(drawn.trimEnd().split('\n'))
    .map((line) => `  ${paint.whiteBright.bgBlack(line)}`)
    .join('\n')
}

/** The library leaves one light module around the code; ISO/IEC 18004, 5.3.8 requires four. */
function withQuietZone(lines: readonly string[]): string[] {
  const wide = lines.map((line) => `███${line}███`)
  const light = '█'.repeat(wide[0]!.length)
  // The first line contains the margin: dark above, light below.
  return [light, light, ...wide.slice(1), light, light]
}
