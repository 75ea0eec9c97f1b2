import { userInfo } from 'node:os'

/** The environment of this process: everything else is handed it. */
export const environment: NodeJS.ProcessEnv = process.env

/** Who a command acts for in the audit log: the user who runs it. */
export const commandOperator = (): string => `cli:${process.getuid?.() ?? userInfo().username}`
