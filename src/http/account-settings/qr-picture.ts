import encodeQr from 'qr'

/** Quiet zone in modules (ISO/IEC 18004, 5.3.8). */
const QUIET_ZONE = 4

/** Renders a QR code as a `data:` URL with an SVG, always dark on white. */
export function qrPicture(text: string): string {
  const rows = encodeQr(text, 'raw', { ecc: 'medium', border: QUIET_ZONE })
  const size = rows.length
  const dark = rows.map((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')).join('')).join('')
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">` +
    `<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${dark}"/></svg>`
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}
