import { isRecord } from '../../../policies/document/reading.ts';
import type { Session, SessionChange } from './session-store.ts';
import type { Roles } from './user.ts';

/** A text or a whole number. */
type Attribute = { readonly S: string } | { readonly N: string };
type Attributes = Readonly<Record<string, Attribute>>;

/** When it ends at the latest, Unix ms. */
export const ENDS_AT = 'en';
const TERMINAL = 'te';

const text = (value: string): Attribute => ({ S: value });
const whole = (value: number): Attribute => ({ N: String(value) });

/** Id of the user whose session it is. */
export const USER_ID = 'ui';

/** Encodes the present fields under short names. */
export function changeAttributes(change: SessionChange): Attributes {
  const { username, name, roles, rolesReadAtMs, seenAtMs } = change;
  return {
    ...(username !== undefined && { un: text(username) }),
    ...(name !== undefined && { na: text(name) }),
    ...(roles !== undefined && { ro: text(JSON.stringify(roles)) }),
    ...(rolesReadAtMs !== undefined && { ra: whole(rolesReadAtMs) }),
    ...(seenAtMs !== undefined && { se: whole(seenAtMs) }),
  };
}

export const sessionAttributes = (session: Session): Attributes => ({
  ...changeAttributes(session),
  [USER_ID]: whole(session.userId),
  [ENDS_AT]: whole(session.endsAtMs),
  ...(session.terminal && { [TERMINAL]: whole(1) }),
});

/** Returns undefined for a damaged item; its user signs in again. */
export function sessionOf(item: Readonly<Record<string, unknown>>): Session | undefined {
  const userId = wholeIn(item, USER_ID);
  const username = textIn(item, 'un');
  const name = textIn(item, 'na');
  const roles = rolesIn(textIn(item, 'ro'));
  const rolesReadAtMs = wholeIn(item, 'ra');
  const seenAtMs = wholeIn(item, 'se');
  const endsAtMs = wholeIn(item, ENDS_AT);
  if (userId === undefined || username === undefined || name === undefined || roles === undefined)
    return undefined;
  if (rolesReadAtMs === undefined || seenAtMs === undefined || endsAtMs === undefined) return undefined;
  const terminal = wholeIn(item, TERMINAL) === 1;
  const session = { userId, username, name, roles, rolesReadAtMs, seenAtMs, endsAtMs };
  return terminal ? { ...session, terminal } : session;
}

function textIn(item: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = item[name];
  return isRecord(value) && typeof value.S === 'string' ? value.S : undefined;
}

function wholeIn(item: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = item[name];
  const number = isRecord(value) ? Number(value.N ?? Number.NaN) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

function rolesIn(json: string | undefined): Roles | undefined {
  const roles: unknown = json === undefined ? undefined : parsed(json);
  if (!isRecord(roles)) return undefined;
  const { admin, finance, ownedGroupIds, viewerGroupIds } = roles;
  if (typeof admin !== 'boolean' || typeof finance !== 'boolean') return undefined;
  return isIds(ownedGroupIds) && isIds(viewerGroupIds)
    ? { admin, finance, ownedGroupIds, viewerGroupIds }
    : undefined;
}

const isIds = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((id) => Number.isSafeInteger(id));

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
