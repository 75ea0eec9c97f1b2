import { pluralize } from '../../base/counts.ts'
import { formatSize } from '../../base/sizes.ts'
import { printable } from '../../base/text.ts'
import type { ExitCode } from '../exit.ts'
import type { Io } from '../io.ts'

interface TransferSummary {
  /** A file existed with the same content. */
  unchanged(): void
  transferred(bytes: number): void
  skip(path: string, reason: string): void
  /** Prints the result; returns the exit code, 3 if something was left out. */
  report(io: Io, verb: string, target: string, about: object): ExitCode
}

export function makeTransferSummary(): TransferSummary {
  const skipped: { path: string; reason: string }[] = []
  let count = 0
  let bytes = 0
  let unchanged = 0
  return {
    unchanged: () => void (unchanged += 1),
    transferred(size) {
      count += 1
      bytes += size
    },
    skip: (path, reason) => void skipped.push({ path, reason }),
    report(io, verb, target, about) {
      for (const { path, reason } of skipped) io.warn(printable(`skipped ${path}: ${reason}`))
      const parts = [`${verb} ${pluralize(count, 'file')} (${formatSize(bytes)}) to ${target}`]
      if (unchanged > 0) parts.push(`${unchanged} already existed`)
      if (skipped.length > 0) parts.push(`${skipped.length} skipped`)
      io.print(`${parts.join(', ')}.`, { ...about, files: count, bytes, unchanged, skipped })
      return skipped.length > 0 ? 3 : 0
    },
  }
}
