/** `YYYY-MM-DD HH:MM:SS` as the wire has it for components, which is UTC, in ISO 8601. */
export const timeOf = (stamp: string): string => `${stamp.replace(' ', 'T')}Z`
