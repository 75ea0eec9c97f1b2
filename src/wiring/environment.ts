/** The environment of this process: everything else is handed it. */
export const environment: NodeJS.ProcessEnv = process.env
