import { fault, type Fault } from '../../contract/errors.ts'

/** The same fault for unknown rooms and rooms of others, so that their existence is not revealed. */
export const notMember = (): Fault => fault('forbidden', { text: 'There is no such room, or you are not in it.' })

/** For changes that only channels permit. */
export const onlyChannels = (): Fault =>
  fault('forbidden', { text: 'The members and the name of a direct conversation cannot be changed.' })

/** For changes that only the creator and administrators may make. */
export const onlyCreator = (): Fault =>
  fault('forbidden', { text: "Only the room's creator and administrators may do this." })

export const noSuchMessage = (): Fault => fault('not_found')

export const noSuchUser = (): Fault => fault('not_found', { text: 'There is no such user.' })
