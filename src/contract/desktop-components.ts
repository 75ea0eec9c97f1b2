import { action, endpoint, none } from './define.ts'
import { Count, Id, Ok } from './shapes.ts'
import { Type } from './schema.ts'

const both = { session: true, device: true } as const

/** `YYYY-MM-DD HH:MM:SS`, UTC. */
const Stamp = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$' })
const Kind = Type.Union([Type.Literal('css'), Type.Literal('js'), Type.Literal('widget')])
const Metadata = Type.Object({}, { additionalProperties: true })
const Name = (more: object = {}) =>
  Type.String({ minLength: 1, maxLength: 100, description: 'Up to 100 printable characters.', ...more })
const ComponentId = Name({ 'x-missing': 'component_id erforderlich' })

const Component = Type.Object({
  id: Id,
  component_id: Type.String(),
  component_type: Kind,
  code: Type.String(),
  version: Count,
  is_active: Type.Boolean(),
  metadata: Metadata,
  updated_at: Stamp,
})

const Overview = Type.Object({
  component_id: Type.String(),
  component_type: Kind,
  newest: Type.Integer({ minimum: 1, description: 'The newest version. Type and time refer to it.' }),
  active: Type.Union([Count, Type.Null()], { description: 'The active version; null if there is none.' }),
  versions: Count,
  updated_at: Stamp,
})

const Profile = Type.Object({
  id: Id,
  name: Type.String(),
  is_default: Type.Boolean(),
  components: Type.Array(Type.String()),
  created_at: Stamp,
})

const named = Type.Object({ component_id: ComponentId })

/** Components of a user's desktop: styles, hooks and widgets, with all their versions. */
export const desktopComponents = endpoint('/api/desktop-components.php', {
  list: action({
    summary: 'Active components.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, components: Type.Array(Component) }),
    errors: [],
    example: {},
  }),
  overview: action({
    summary: 'All components by name, including inactive ones, without their code.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, components: Type.Array(Overview) }),
    errors: [],
    example: {},
  }),
  get: action({
    summary: 'The active version of a component, or the given one.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: Type.Object({
      component_id: ComponentId,
      version: Type.Optional(
        Type.Integer({ ...Id, description: 'A version of the component; the active one if omitted.' }),
      ),
    }),
    result: Type.Object({ ok: Ok, component: Component }),
    errors: ['not_found'],
    example: { component_id: 'clock' },
  }),
  save: action({
    summary:
      'Save a new version and activate it. The newest 100 versions are kept. Device tokens cannot save `js`: `forbidden`.',
    method: 'POST',
    stores: true,
    auth: both,
    limit: 'components_save',
    params: Type.Object({
      component_id: ComponentId,
      component_type: Kind,
      code: Type.String({
        description:
          'At most 102400 bytes of UTF-8. For `js` without `eval(`, `Function(`, `XMLHttpRequest`, `document.cookie` and `localStorage`.',
      }),
      metadata: Type.Optional(
        Type.Object(
          {},
          { additionalProperties: true, description: 'Anything; at most 16 KiB of JSON and 16 levels deep.' },
        ),
      ),
      base_version: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description:
            'The newest version that the client knows, 0 for a new component. If there is a newer one, nothing is saved: `conflict`, with its number in `current`.',
        }),
      ),
    }),
    result: Type.Object({ ok: Ok, version: Count, component_id: Type.String() }),
    errors: ['quota_exceeded', 'conflict', 'forbidden'],
    example: { component_id: 'clock', component_type: 'css', code: 'body { color: teal }', metadata: {} },
  }),
  history: action({
    summary: 'Versions of a component, newest first.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: named,
    result: Type.Object({
      ok: Ok,
      versions: Type.Array(
        Type.Object({ version: Count, is_active: Type.Boolean(), updated_at: Stamp, metadata: Metadata }),
      ),
    }),
    errors: ['not_found'],
    example: { component_id: 'clock' },
  }),
  activate: action({
    summary: 'Go back to a version. A device token activates no `js`: `forbidden`.',
    method: 'POST',
    auth: both,
    limit: 'components_save',
    params: Type.Object({ component_id: ComponentId, version: Id }),
    result: Type.Object({ ok: Ok, component_id: Type.String(), version: Count }),
    errors: ['not_found', 'forbidden'],
    example: { component_id: 'clock', version: 1 },
  }),
  reset: action({
    summary: 'Deactivate every version: back to how the desktop is without it.',
    method: 'POST',
    auth: both,
    limit: 'components_save',
    params: named,
    result: Type.Object({ ok: Ok, component_id: Type.String(), deactivated: Count }),
    errors: ['not_found'],
    example: { component_id: 'clock' },
  }),
  reset_all: action({
    summary: 'The same for every component: the desktop as it came.',
    method: 'POST',
    auth: both,
    limit: 'components_save',
    params: none,
    result: Type.Object({ ok: Ok, deactivated: Count }),
    errors: [],
    example: {},
  }),
  save_profile: action({
    summary: 'Keep a copy of all active components under a name.',
    method: 'POST',
    auth: both,
    limit: 'components_save',
    params: Type.Object({ name: Name() }),
    result: Type.Object({ ok: Ok, profile_id: Id, components_saved: Count }),
    errors: ['quota_exceeded'],
    example: { name: 'Evening' },
  }),
  load_profile: action({
    summary:
      'Restore the components of a profile as new versions; with `exclusive` all others are deactivated. A device token loads none with `js`: `forbidden`.',
    method: 'POST',
    auth: both,
    limit: 'components_save',
    params: Type.Object({ profile_id: Id, exclusive: Type.Optional(Type.Boolean({ description: 'Default false.' })) }),
    result: Type.Object({ ok: Ok, components_loaded: Count }),
    errors: ['not_found', 'forbidden', 'quota_exceeded'],
    example: { profile_id: 1 },
  }),
  profiles: action({
    summary: 'Profiles by name.',
    method: 'GET',
    auth: both,
    limit: 'none',
    params: none,
    result: Type.Object({ ok: Ok, profiles: Type.Array(Profile) }),
    errors: [],
    example: {},
  }),
  rename_profile: action({
    summary: 'Call a profile otherwise.',
    method: 'POST',
    auth: both,
    limit: 'components_save',
    params: Type.Object({ profile_id: Id, name: Name() }),
    result: Type.Object({ ok: Ok }),
    errors: ['not_found'],
    example: { profile_id: 1, name: 'Night' },
  }),
  delete_profile: action({
    summary: 'Delete a profile; components stay as they are.',
    method: 'POST',
    auth: both,
    limit: 'components_save',
    params: Type.Object({ profile_id: Id }),
    result: Type.Object({ ok: Ok }),
    errors: ['not_found'],
    example: { profile_id: 1 },
  }),
})
