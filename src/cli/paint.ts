import type { ChalkInstance } from 'chalk'

/** Leaves every text as it is. It is no promise, whatever else it has. */
const plain = new Proxy((text: string) => text, {
  get: (_, name) => (name === 'then' ? undefined : name === 'hex' ? () => plain : plain),
}) as unknown as ChalkInstance

/** Styles of text. Where there are none, chalk is not loaded: commands in scripts start faster. */
export async function loadPaint(isColored: boolean): Promise<ChalkInstance> {
  if (!isColored) return plain
  const { Chalk } = await import('chalk')
  return new Chalk({ level: 2 })
}
