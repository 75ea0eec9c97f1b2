const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Where a string ends that begins at `from`, behind its quote; the end of the bytes when it does not. */
function endOfString(bytes: Buffer, from: number): number {
  for (let end = bytes.indexOf(QUOTE, from); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let slash = end - 1
    while (slash >= from && bytes[slash] === BACKSLASH) slash -= 1
    // An even number of backslashes escape each other, and not the quote.
    if ((end - slash) % 2 === 1) return end + 1
  }
  return bytes.length
}

/**
 * What is too much in a JSON text, found without parsing it: a parser makes an object of each pair of brackets, which costs a
 * hundred times their bytes, and everything that walks through the result costs again. Undefined where it may be parsed.
 */
export function excessOf(bytes: Buffer, most: { depth: number; values: number }): 'depth' | 'values' | undefined {
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
