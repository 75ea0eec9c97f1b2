// A component of the type js: hooks that arrange the desktop. Each is asked, and answers with plain data within 200 ms.

// Which apps stand first in the dock, which are left out, and what others are called.
window.__svcHooks.dock = ({ apps, language }) => ({
  order: ['files', 'notes', 'calendar'],
  hidden: apps.filter(({ slug }) => slug === 'places').map(({ slug }) => slug),
  labels: language === 'de' ? { notes: 'Zettel' } : { notes: 'Slips' },
})

// Where windows are when they open, in pixels.
window.__svcHooks.panel = ({ width, height }) => ({
  windows: { notes: { x: 24, y: 24, width: Math.min(640, width - 48), height: height - 48 } },
})
