import { isRecord } from '../../../../policies/document/reading.ts';

export interface ShownUser {
  readonly id: number;
  readonly csrfToken: string;
  readonly roles: { readonly finance: boolean };
}

/** What the console of the tests shows of its user. */
export function parseUser(body: unknown): ShownUser {
  if (!isRecord(body) || !isRecord(body.roles)) throw new Error(`no user: ${JSON.stringify(body)}`);
  const { id, csrfToken, roles } = body;
  if (typeof id !== 'number' || typeof csrfToken !== 'string' || typeof roles.finance !== 'boolean')
    throw new Error(`no user: ${JSON.stringify(body)}`);
  return { ...body, id, csrfToken, roles: { ...roles, finance: roles.finance } };
}
