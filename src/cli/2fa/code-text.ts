export const formatCode = (code: string): string => `${code.slice(0, 5)}-${code.slice(5)}`

export function formatBackupCodes(codes: readonly string[]): string {
  const shown = codes.map(formatCode)
  const pairs = shown.flatMap((code, index) =>
    index % 2 === 0 ? [`    ${[code, shown[index + 1]].join('    ')}`] : [],
  )
  return `${pairs.map((line) => line.trimEnd()).join('\n')}\n\nThese codes are not shown again.`
}
