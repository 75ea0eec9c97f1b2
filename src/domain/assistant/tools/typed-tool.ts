import type { TObject } from 'typebox'
import type { Tool } from './tool.ts'

/** A tool with typed arguments, for a list of tools. */
export const typedTool = <P extends TObject>(tool: Tool<P>): Tool => tool as unknown as Tool
