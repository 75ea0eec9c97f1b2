import { fault, type Fault } from '../../contract/errors.ts'

/** One answer for rooms that do not exist and rooms one is not in, so that nobody learns which there are. */
export const notMember = (): Fault => fault('forbidden', { text: 'There is no such room, or you are not in it.' })

/** What only channels can do. */
export const onlyChannels = (): Fault =>
  fault('forbidden', { text: 'A direct conversation keeps its two people and its name.' })

/** What only the room's creator and administrators may do. */
export const onlyCreator = (): Fault =>
  fault('forbidden', { text: "Only the room's creator and administrators may do this." })

export const noSuchMessage = (): Fault => fault('not_found')

export const noSuchUser = (): Fault => fault('not_found', { text: 'There is no such user.' })
