import process from 'node:process'

/** Whether tests look for what nobody thought of, with all combinations: in `npm run test:all`, and where a file is named. */
export const explores = process.env['EXPLORE'] === 'on'
