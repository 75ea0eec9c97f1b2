/** Describes a key as the desktop knows it: `ctrl+alt+ArrowLeft`. */
export const keyName = (event: KeyboardEvent): string =>
  [event.ctrlKey && 'ctrl', event.metaKey && 'meta', event.altKey && 'alt', event.shiftKey && 'shift', event.key]
    .filter(Boolean)
    .join('+')
