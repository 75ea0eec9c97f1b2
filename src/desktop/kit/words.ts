import { catalogue } from './language.ts'

/** Words that every part of the desktop uses. */
export const common = catalogue(
  {
    cancel: 'Cancel',
    close: 'Close',
    save: 'Save',
    delete: 'Delete',
    back: 'Back',
    retry: 'Try again',
    loading: 'Loading …',
    search: 'Search',
    more: 'More',
    offline: 'The server cannot be reached. What you write is kept and sent as soon as it is back.',
    dismiss: 'Dismiss',
    discard: 'Discard',
    copied: 'Copied.',
    not_copied: 'The browser does not let this be copied here.',
  },
  {
    cancel: 'Abbrechen',
    close: 'Schließen',
    save: 'Speichern',
    delete: 'Löschen',
    back: 'Zurück',
    retry: 'Noch einmal versuchen',
    loading: 'Wird geladen …',
    search: 'Suchen',
    more: 'Mehr',
    offline:
      'Der Server ist nicht erreichbar. Was Sie schreiben, bleibt erhalten und wird gesendet, sobald er wieder da ist.',
    dismiss: 'Ausblenden',
    discard: 'Verwerfen',
    copied: 'Kopiert.',
    not_copied: 'Der Browser lässt das Kopieren hier nicht zu.',
  },
)
