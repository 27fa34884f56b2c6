import { count, list, text, z } from '../reading/schema.ts';

const groups = list(z.int());

/** The names and rights of `core/limits/desk/role.ts`. */
export const roleName = z.enum(['viewer', 'owner', 'finance', 'admin']);

export const MeSchema = z
  .object({
    id: count('GitLab’s.'),
    username: text(),
    name: text(),
    rights: list(
      z.discriminatedUnion('role', [
        z.object({ role: z.literal('viewer'), groups: z.union([groups, z.literal('all')]) }),
        z.object({ role: z.literal('owner'), groups }),
        z.object({ role: z.literal('finance') }),
        z.object({ role: z.literal('admin') }),
      ]),
    ),
    roles: list(roleName).openapi({
      description: 'Names of `rights`, strongest first; empty: signed in, and may do nothing but see this.',
    }),
    seesAll: z.boolean().openapi({ description: 'Sees the whole instance.' }),
    groups: list(z.object({ id: count(), path: text(), role: z.enum(['owner', 'viewer']) })).openapi({
      description: 'Topmost groups they see, by path; at most 200. Empty for who sees all.',
    }),
    currency: text('ISO 4217.'),
    waiting: count('Decisions they may take on others’ requests that are waiting.'),
  })
  .openapi('Me');

export type MeAnswer = z.infer<typeof MeSchema>;
