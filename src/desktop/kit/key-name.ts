/** Name of a key with its modifiers: `ctrl+alt+ArrowLeft`. */
export const keyName = (event: KeyboardEvent): string =>
  [event.ctrlKey && 'ctrl', event.metaKey && 'meta', event.altKey && 'alt', event.shiftKey && 'shift', event.key]
    .filter(Boolean)
    .join('+')
