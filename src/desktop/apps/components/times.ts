/** Converts the UTC times of the components API, `YYYY-MM-DD HH:MM:SS`, to ISO 8601. */
export const timeOf = (stamp: string): string => `${stamp.replace(' ', 'T')}Z`
