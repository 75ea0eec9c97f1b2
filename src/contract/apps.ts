import { categories } from './app-categories.ts'
import { action, endpoint, none } from './define.ts'
import { Id, Ok } from './shapes.ts'
import { SLUG } from './slug.ts'
import { Type } from './schema.ts'

const both = { session: true, device: true } as const

const Category = Type.Unsafe<(typeof categories)[number]>(Type.Union(categories.map((name) => Type.Literal(name))))
const Slug = Type.String({
  pattern: SLUG.source,
  description: 'Lower-case letters, digits and hyphens; unique.',
})
const Name = Type.String({ minLength: 1, maxLength: 100, description: 'Up to 100 printable characters.' })
const Text = (max: number, description?: string) =>
  Type.Optional(Type.String({ maxLength: max, ...(description ? { description } : {}) }))

const details = {
  description: Text(2_000),
  icon_url: Text(100_000, 'A path, an https URL, or a `data:` URL of a PNG, JPEG, GIF or WebP picture in base64.'),
  app_path: Text(
    2_000,
    'A path below `/apps/`, or an https URL of an origin in `apps.allowed_origins`; default `/apps/<slug>/index.html`.',
  ),
  category: Type.Optional(Category),
  supports_context: Type.Optional(
    Type.Boolean({ description: 'Whether the app can pass its content to the assistant; default false.' }),
  ),
}

const App = Type.Object({
  id: Id,
  name: Type.String(),
  slug: Type.String(),
  description: Type.String(),
  icon_url: Type.String(),
  app_path: Type.String(),
  category: Category,
  supports_context: Type.Boolean(),
  is_system: Type.Boolean(),
})

const byId = Type.Object({ ok: Ok, id: Id })

/** Apps of the desktop: system apps for everyone, custom apps for their creator. */
export const apps = endpoint('/api/apps.php', {
  list: action({
    summary: 'Apps of the caller by name: system apps and own custom apps, except disabled ones.',
    method: 'GET',
    byDefault: true,
    auth: both,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, apps: Type.Array(App) }),
    errors: [],
    example: {},
  }),
  create: action({
    summary: 'Register an app: for all users with `is_system`, otherwise as a custom app of the caller.',
    method: 'POST',
    byDefault: true,
    status: 201,
    auth: { session: true, device: true, admin: true },
    limit: 'none',
    params: Type.Object({
      name: Name,
      slug: Slug,
      ...details,
      is_system: Type.Optional(Type.Boolean({ description: 'Default false.' })),
    }),
    result: byId,
    errors: ['exists', 'quota_exceeded'],
    example: { name: 'Weather', slug: 'weather', app_path: '/apps/weather/index.html', category: 'utility' },
  }),
  create_custom: action({
    summary: 'Register a custom app of the caller.',
    method: 'POST',
    status: 201,
    auth: both,
    limit: 'none',
    params: Type.Object({ name: Name, slug: Slug, ...details }),
    result: byId,
    errors: ['exists', 'quota_exceeded'],
    example: { name: 'My clock', slug: 'my-clock', app_path: '/apps/my-clock/index.html' },
  }),
  update: action({
    summary: 'Change a custom app of the caller.',
    method: 'POST',
    auth: both,
    limit: 'none',
    params: Type.Object({ id: Id, name: Type.Optional(Name), ...details }),
    result: byId,
    errors: ['not_found', 'forbidden'],
    example: { id: 17, name: 'Our clock' },
  }),
  delete: action({
    summary: 'Remove a custom app of the caller.',
    method: 'POST',
    auth: both,
    limit: 'none',
    params: Type.Object({ id: Id }),
    result: Type.Object({ ok: Ok }),
    errors: ['not_found', 'forbidden'],
    example: { id: 17 },
  }),
})
