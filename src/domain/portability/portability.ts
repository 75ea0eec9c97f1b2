import { makeExport } from './export.ts'
import { makeImport } from './import.ts'
import type { ExportParts, ImportParts } from './parts.ts'

export type { Contained } from './examine.ts'

/** Accounts that leave for another server, or arrive from one: everything somebody has, in one archive. */
export const makePortability = (parts: ExportParts & ImportParts) => ({ ...makeExport(parts), ...makeImport(parts) })

export type Portability = ReturnType<typeof makePortability>
