const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Index after the closing quote of the string that starts at `from`; the length of `bytes` when it is unterminated. */
function endOfString(bytes: Buffer, from: number): number {
  for (let end = bytes.indexOf(QUOTE, from); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let slash = end - 1
    while (slash >= from && bytes[slash] === BACKSLASH) slash -= 1
    // The quote is escaped only by an odd number of backslashes.
    if ((end - slash) % 2 === 1) return end + 1
  }
  return bytes.length
}

/**
 * Checks depth and number of values without parsing: JSON.parse allocates an object per pair of brackets, about a
 * hundred times its size. Undefined when within the limits.
 */
export function findExcess(bytes: Buffer, most: { depth: number; values: number }): 'depth' | 'values' | undefined {
  let [depth, values] = [0, 1]
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at++]
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1
      values += 1
      if (depth > most.depth) return 'depth'
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1
    else if (byte === COMMA) values += 1
    if (values > most.values) return 'values'
  }
  return undefined
}
