import { action, endpoint } from './define.ts'
import { Ok, Role, User } from './shapes.ts'
import { Password, Username } from './sync-auth.ts'
import { Type } from './schema.ts'

export const setup = endpoint('/api/setup.php', {
  setup: action({
    summary: 'Create the first administrator with the set-up link that `svc serve` printed.',
    method: 'POST',
    byDefault: true,
    auth: 'anyone',
    limit: 'anonymous',
    sameOrigin: true,
    openIn: ['setup', 'maintenance'],
    params: Type.Object({
      token: Type.String({ maxLength: 200, description: 'Token of the set-up link. Works once, for half an hour.' }),
      username: Username,
      password: Password,
      display_name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    }),
    result: Type.Object({ ok: Ok, user: Type.Object({ ...User.properties, role: Role }) }),
    errors: ['not_found', 'gone', 'exists', 'csrf'],
    example: { token: '0'.repeat(64), username: 'ada', password: 'analytical engine' },
  }),
})
