import { Type } from 'typebox'

export const FilePath = Type.String({ description: 'Absolute path.' })

export const PageOffset = Type.Optional(
  Type.Integer({ minimum: 0, description: 'Character to begin with; 0 without it.' }),
)
