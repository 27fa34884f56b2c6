import { createHmac, timingSafeEqual } from 'node:crypto';
import { REQUESTS_PAGE } from './console-links.ts';

type ApproverRole = 'owner' | 'finance';

interface ApprovalTarget {
  /** The GitLab whose books it is about: a key may serve several deployments. */
  readonly instance: string;
  readonly request: string;
  readonly role: ApproverRole;
}

/** Those who are asked again a day later get another one. */
const VALID_MS = 7 * 86_400_000;
const KEY_CHARACTERS_MIN = 32;
const TOKEN_CHARACTERS_MAX = 500;
/** Nothing else that is signed with the same key passes for a link. */
const PURPOSE = 'tollgate approval 1';

/**
 * Returns the path of a request's decision page, signed by the first key. The token is in the query, which
 * is not logged.
 *
 * @param keys - lines of the secret. Returns undefined if no line is a key.
 */
export function approvalPath(
  { instance, request, role }: ApprovalTarget,
  keys: readonly string[],
  nowMs: number,
): string | undefined {
  const [key] = strong(keys);
  if (key === undefined) return undefined;
  const untilSeconds = Math.floor((nowMs + VALID_MS) / 1_000);
  const payload = Buffer.from(JSON.stringify([instance, request, role, untilSeconds])).toString('base64url');
  const token = `${payload}.${sign(payload, key).toString('base64url')}`;
  return `${REQUESTS_PAGE}/${encodeURIComponent(request)}?link=${token}`;
}

type ApprovalReading =
  | { readonly outcome: 'valid'; readonly role: ApproverRole }
  | { readonly outcome: 'altered' | 'expired' };

/** Checks that a link is ours and belongs to this request. @throws errors from reading the keys */
export type ApprovalCheck = (token: string, request: string) => Promise<ApprovalReading>;

export const approvalCheck =
  ({
    instance,
    keys,
    clock,
  }: {
    readonly instance: string;
    readonly keys: () => Promise<readonly string[]>;
    readonly clock: { nowMs(): number };
  }): ApprovalCheck =>
  async (token, request) => {
    const [, payload = '', signature = ''] = TOKEN.exec(token.slice(0, TOKEN_CHARACTERS_MAX)) ?? [];
    const given = Buffer.from(signature, 'base64url');
    const isOurs = strong(await keys()).some((key) => {
      const own = sign(payload, key);
      return given.length === own.length && timingSafeEqual(given, own);
    });
    if (!isOurs) return { outcome: 'altered' };
    // Signed by us, so it reads as we wrote it.
    const [ofInstance, ofRequest, role, untilSeconds] = JSON.parse(
      Buffer.from(payload, 'base64url').toString(),
    ) as readonly [string, string, ApproverRole, number];
    if (ofInstance !== instance || ofRequest !== request) return { outcome: 'altered' };
    return clock.nowMs() < untilSeconds * 1_000 ? { outcome: 'valid', role } : { outcome: 'expired' };
  };

const TOKEN = /^([\w-]+)\.([\w-]{43})$/;

const strong = (keys: readonly string[]): readonly string[] =>
  keys.filter((key) => key.length >= KEY_CHARACTERS_MIN);

const sign = (payload: string, key: string): Buffer =>
  createHmac('sha256', key).update(`${PURPOSE}\n${payload}`).digest();
