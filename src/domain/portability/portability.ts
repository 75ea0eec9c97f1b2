import { makeExport } from './export.ts'
import { makeImport } from './import.ts'
import type { ExportParts, ImportParts } from './parts.ts'

export type { Contained } from './examine.ts'

/** Exports accounts to archives, and imports them on another server. */
export const makePortability = (parts: ExportParts & ImportParts) => ({ ...makeExport(parts), ...makeImport(parts) })

export type Portability = ReturnType<typeof makePortability>
