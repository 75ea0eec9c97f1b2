/** The name of an app in URLs. */
export const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/
