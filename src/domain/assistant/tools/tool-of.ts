import type { TObject } from 'typebox'
import type { Tool } from './tool.ts'

/** A tool with the precise type of its arguments, to stand beside others in a list. */
export const toolOf = <P extends TObject>(tool: Tool<P>): Tool => tool as unknown as Tool
