import { userInfo } from 'node:os'

/** The environment of this process; all other code gets it as an argument. */
export const environment: NodeJS.ProcessEnv = process.env

/** Who a command acts for in the audit log: the system user who runs it. */
export const commandOperator = (): string => `cli:${process.getuid?.() ?? userInfo().username}`
