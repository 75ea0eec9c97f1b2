import { catalogue } from './language.ts'

/** Messages shared by all parts of the desktop. */
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
    offline: 'The server cannot be reached. Your changes are kept and sent when the connection is back.',
    dismiss: 'Dismiss',
    discard: 'Discard',
    copied: 'Copied.',
    not_copied: 'The browser did not allow copying.',
  },
  {
    cancel: 'Abbrechen',
    close: 'Schließen',
    save: 'Speichern',
    delete: 'Löschen',
    back: 'Zurück',
    retry: 'Erneut versuchen',
    loading: 'Wird geladen …',
    search: 'Suchen',
    more: 'Mehr',
    offline:
      'Der Server ist nicht erreichbar. Ihre Änderungen bleiben erhalten und werden gesendet, sobald die Verbindung wieder besteht.',
    dismiss: 'Ausblenden',
    discard: 'Verwerfen',
    copied: 'Kopiert.',
    not_copied: 'Der Browser hat das Kopieren nicht zugelassen.',
  },
)
