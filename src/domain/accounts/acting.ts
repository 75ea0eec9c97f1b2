import type { Happening, Place } from '../instance/instance.ts'

/** Somebody who changes their own account: from where, and in which session, which goes on when their others end. */
export interface Acting extends Place {
  session_id?: number
}

/** Who did it, for the audit log: the user themselves, or without `acting` whoever runs this process. */
export const doer = (user: number, acting: Acting | undefined): Pick<Happening, 'by' | 'from' | 'about'> =>
  acting ? { by: user, from: acting, about: user } : { about: user }
