/** After a change is committed: wakes who polls the room, and who waits for the feeds that moved. */
export type Tell = (room: number, feeds: readonly number[]) => void
