import type { Noun } from './command.ts'

/** Every command. The files are found by name: `user add` is `user/add.ts`. */
export const nouns: Record<string, Noun> = {
  serve: {
    group: 'Server',
    summary: 'Run the server',
    verbs: { '': () => import('./serve/serve.ts').then((m) => m.serve) },
  },
  init: {
    group: 'Administration',
    summary: 'Prepare a data directory: keys, configuration, first administrator',
    verbs: { '': () => import('./init/init.ts').then((m) => m.init) },
  },
  user: {
    group: 'Administration',
    summary: 'Accounts',
    aliases: ['users'],
    verbs: {
      add: () => import('./user/add.ts').then((m) => m.add),
      list: () => import('./user/list.ts').then((m) => m.list),
      show: () => import('./user/show.ts').then((m) => m.show),
      set: () => import('./user/set.ts').then((m) => m.set),
      passwd: () => import('./user/passwd.ts').then((m) => m.passwd),
      enable: () => import('./user/enable.ts').then((m) => m.enable),
      disable: () => import('./user/disable.ts').then((m) => m.disable),
      unlock: () => import('./user/unlock.ts').then((m) => m.unlock),
      remove: () => import('./user/remove.ts').then((m) => m.remove),
    },
  },
  device: {
    group: 'Administration',
    summary: 'Devices that are signed in to an account',
    aliases: ['devices'],
    verbs: {
      list: () => import('./device/list.ts').then((m) => m.list),
      revoke: () => import('./device/revoke.ts').then((m) => m.revoke),
    },
  },
  maintenance: {
    group: 'Administration',
    summary: 'Keep users out, or let them only read',
    verbs: {
      on: () => import('./maintenance/on.ts').then((m) => m.on),
      off: () => import('./maintenance/off.ts').then((m) => m.off),
      status: () => import('./maintenance/status.ts').then((m) => m.status),
    },
  },
  quota: {
    group: 'Administration',
    summary: 'How much accounts store, and may store',
    aliases: ['quotas'],
    verbs: {
      report: () => import('./quota/report.ts').then((m) => m.report),
      set: () => import('./quota/set.ts').then((m) => m.set),
      default: () => import('./quota/default.ts').then((m) => m.standard),
      recount: () => import('./quota/recount.ts').then((m) => m.recount),
    },
  },
  app: {
    group: 'Administration',
    summary: 'Apps of the desktop: packages, addresses, what is shown',
    aliases: ['apps'],
    verbs: {
      list: () => import('./app/list.ts').then((m) => m.list),
      add: () => import('./app/add.ts').then((m) => m.add),
      show: () => import('./app/show.ts').then((m) => m.show),
      set: () => import('./app/set.ts').then((m) => m.set),
      enable: () => import('./app/enable.ts').then((m) => m.enable),
      disable: () => import('./app/disable.ts').then((m) => m.disable),
      remove: () => import('./app/remove.ts').then((m) => m.remove),
      check: () => import('./app/check.ts').then((m) => m.check),
      install: () => import('./app/install.ts').then((m) => m.install),
      update: () => import('./app/update.ts').then((m) => m.update),
      rollback: () => import('./app/rollback.ts').then((m) => m.rollback),
    },
  },
  room: {
    group: 'Administration',
    summary: 'Chat rooms of everybody',
    aliases: ['rooms'],
    verbs: {
      list: () => import('./room/list.ts').then((m) => m.list),
      show: () => import('./room/show.ts').then((m) => m.show),
      remove: () => import('./room/remove.ts').then((m) => m.remove),
    },
  },
  component: {
    group: 'Administration',
    summary: 'Desktop components of users',
    aliases: ['components'],
    verbs: {
      list: () => import('./component/list.ts').then((m) => m.list),
      reset: () => import('./component/reset.ts').then((m) => m.reset),
    },
  },
  audit: {
    group: 'Administration',
    summary: 'Who did what: logins, devices, accounts, administration',
    verbs: { '': () => import('./audit/audit.ts').then((m) => m.audit) },
  },
  config: {
    group: 'Administration',
    summary: 'Settings and where they come from',
    verbs: {
      list: () => import('./config/list.ts').then((m) => m.list),
      get: () => import('./config/get.ts').then((m) => m.get),
      set: () => import('./config/set.ts').then((m) => m.set),
      unset: () => import('./config/unset.ts').then((m) => m.unset),
    },
  },
  backup: {
    group: 'Administration',
    summary: 'Backups: make, check, restore, and look into them',
    aliases: ['backups'],
    verbs: {
      create: () => import('./backup/create.ts').then((m) => m.create),
      list: () => import('./backup/list.ts').then((m) => m.list),
      show: () => import('./backup/show.ts').then((m) => m.show),
      verify: () => import('./backup/verify.ts').then((m) => m.verify),
      restore: () => import('./backup/restore.ts').then((m) => m.restore),
      prune: () => import('./backup/prune.ts').then((m) => m.prune),
      ls: () => import('./backup/ls.ts').then((m) => m.ls),
      cat: () => import('./backup/cat.ts').then((m) => m.cat),
      extract: () => import('./backup/extract.ts').then((m) => m.extract),
    },
  },
  doctor: {
    group: 'Administration',
    summary: 'Check the installation and say how to mend it',
    verbs: { '': () => import('./doctor/doctor.ts').then((m) => m.doctor) },
  },
  login: {
    group: 'Client',
    summary: 'Sign in to a server and keep a device token',
    verbs: { '': () => import('./login/login.ts').then((m) => m.login) },
  },
  logout: {
    group: 'Client',
    summary: 'Revoke the stored device token and forget it',
    verbs: { '': () => import('./logout/logout.ts').then((m) => m.logout) },
  },
  whoami: {
    group: 'Client',
    summary: 'The account and server that commands talk to',
    verbs: { '': () => import('./whoami/whoami.ts').then((m) => m.whoami) },
  },
  profile: {
    group: 'Client',
    summary: 'Several accounts on one machine',
    aliases: ['profiles'],
    verbs: {
      list: () => import('./profile/list.ts').then((m) => m.list),
      use: () => import('./profile/use.ts').then((m) => m.use),
    },
  },
  sync: {
    group: 'Client',
    summary: 'Keep a folder in step with the account, in both directions',
    verbs: {
      '': () => import('./sync/sync.ts').then((m) => m.sync),
      init: () => import('./sync/init.ts').then((m) => m.init),
      status: () => import('./sync/status.ts').then((m) => m.status),
    },
  },
  files: {
    group: 'Client',
    summary: 'Files of the account, without a synchronised folder',
    aliases: ['file'],
    verbs: {
      ls: () => import('./files/ls.ts').then((m) => m.ls),
      get: () => import('./files/get.ts').then((m) => m.get),
      put: () => import('./files/put.ts').then((m) => m.put),
      mkdir: () => import('./files/mkdir.ts').then((m) => m.mkdir),
      mv: () => import('./files/mv.ts').then((m) => m.mv),
      rm: () => import('./files/rm.ts').then((m) => m.rm),
      quota: () => import('./files/quota.ts').then((m) => m.quota),
    },
  },
  data: {
    group: 'Client',
    summary: 'Rows of the synchronised tables',
    verbs: {
      tables: () => import('./data/tables.ts').then((m) => m.tables),
      list: () => import('./data/list.ts').then((m) => m.list),
      get: () => import('./data/get.ts').then((m) => m.get),
      add: () => import('./data/add.ts').then((m) => m.add),
      set: () => import('./data/set.ts').then((m) => m.set),
      remove: () => import('./data/remove.ts').then((m) => m.remove),
      export: () => import('./data/export.ts').then((m) => m.exportRows),
      import: () => import('./data/import.ts').then((m) => m.importRows),
    },
  },
  completion: {
    group: 'Help',
    summary: 'Completion for bash, zsh, fish or powershell',
    verbs: { '': () => import('./completion/completion.ts').then((m) => m.completion) },
  },
}
