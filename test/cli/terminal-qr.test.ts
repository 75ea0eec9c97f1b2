import { Chalk } from 'chalk'
import decodeQr from 'qr/decode.js'
import { expect, test } from 'vitest'
import { terminalQr } from '../../src/cli/2fa/terminal-qr.ts'

const SCALE = 4

/** What somebody sees who looks at half blocks in white on black. */
function pictureOf(drawn: string) {
  const lines = drawn.split('\n').map((line) => [...line.trim()])
  const light = lines.flatMap((line) => [
    line.map((block) => block === '█' || block === '▀'),
    line.map((block) => block === '█' || block === '▄'),
  ])
  const [height, width] = [light.length * SCALE, light[0]!.length * SCALE]
  const data = new Uint8Array(width * height * 4).fill(255)
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if (!light[Math.floor(y / SCALE)]![Math.floor(x / SCALE)])
        data.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3)
    }
  }
  return { height, width, data, light }
}

test.each(['otpauth://totp/svc:ada?secret=SURH5J7DHO2F6UQSFEPZCY33CDCXJUSE&issuer=svc', `https://${'x'.repeat(200)}`])(
  'a drawn code says %s, with room around it',
  (text) => {
    const picture = pictureOf(terminalQr(text, new Chalk({ level: 0 })))
    expect(decodeQr(picture)).toBe(text)
    const { light } = picture
    const margin = [
      ...light.slice(0, 4),
      ...light.slice(-4),
      ...light.map((row) => [...row.slice(0, 4), ...row.slice(-4)]),
    ]
    expect(margin.every((row) => row.every(Boolean))).toBe(true)
  },
)

test('a drawn code brings its own colours where there are any', () => {
  const lines = terminalQr('x', new Chalk({ level: 2 })).split('\n')
  // oxlint-disable-next-line no-control-regex
  for (const line of lines) expect(line).toMatch(/^ {2}\u001b\[97m\u001b\[40m[█▀▄ ]+\u001b\[49m\u001b\[39m$/)
})
