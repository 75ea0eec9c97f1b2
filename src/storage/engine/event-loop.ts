/** Lets everything else that waits for the event loop run before a long operation continues. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
