import type { AdminController, AdminRefusal, ControllerToken } from '../../../functions/core/gitlab/index.ts';
import { notThere, refused, type SetupCourse, type SetupLine } from './setup-line.ts';

type TokenCourse = Pick<SetupCourse, 'gitlab' | 'store' | 'name'>;

/** The tokens of a controller as they relate to the one that is kept. */
interface TokenReading {
  /** True if a value is stored. */
  readonly isKept: boolean;
  /** The kept one, if it is known which it is and GitLab still takes it. */
  readonly current: ControllerToken | undefined;
  /** Made for this place before the kept one: a rotation that did not end. */
  readonly older: readonly ControllerToken[];
  /** Made for this place, and their values were never kept. */
  readonly lost: readonly ControllerToken[];
  /** Someone else stored the value, so its token is unknown. */
  readonly isForeign: boolean;
}

const DAY_MS = 86_400_000;
const MAKES_MAX = 3;

/** In GitLab a token is called by where its value is kept: what was made for here and is not here was lost. */
const descriptionOf = ({ store, name }: TokenCourse): string => `${name} for ${store.place('router-token')}`;

export async function readTokens(
  course: TokenCourse,
  controllerId: number,
): Promise<{ readonly reading: TokenReading } | { readonly refusal: AdminRefusal }> {
  const kept = await course.store.read('router-token');
  const tokens = await course.gitlab.tokens(controllerId);
  if (!tokens.ok) return { refusal: tokens.refusal };
  const ours = tokens.value.filter(({ description }) => description === descriptionOf(course));
  const [, ofController, ofToken] = /^controller (\d+), token (\d+)$/.exec(kept?.note ?? '') ?? [];
  const current =
    Number(ofController) === controllerId ? tokens.value.find(({ id }) => id === Number(ofToken)) : undefined;
  const isForeign = kept !== undefined && ofToken === undefined;
  const after = current?.id ?? 0;
  return {
    reading: {
      isKept: kept !== undefined,
      current,
      older: current === undefined ? [] : ours.filter(({ id }) => id < after),
      // With an unknown stored value, none of our tokens counts as lost.
      lost: isForeign ? [] : ours.filter(({ id }) => id > after),
      isForeign,
    },
  };
}

/** Creates and stores a token. Tokens that were created and lost before are revoked. */
export async function makeToken(
  course: TokenCourse,
  controllerId: number,
  lost: readonly ControllerToken[],
): Promise<{ readonly tokenId: number } | { readonly refusal: AdminRefusal }> {
  let stray = lost;
  for (let tries = 1; ; tries += 1) {
    for (const { id } of stray) {
      const revoked = await course.gitlab.revokeToken(controllerId, id);
      if (!revoked.ok) return { refusal: revoked.refusal };
    }
    const before = await course.gitlab.tokens(controllerId);
    if (!before.ok) return { refusal: before.refusal };
    const made = await course.gitlab.createToken(controllerId, descriptionOf(course));
    if (made.ok) {
      const { id, token } = made.value;
      await course.store.write('router-token', token, `controller ${controllerId}, token ${id}`);
      return { tokenId: id };
    }
    if (made.refusal.code !== 'unavailable' || tries >= MAKES_MAX) return { refusal: made.refusal };
    // It may have been made, and then its value is lost.
    const after = await course.gitlab.tokens(controllerId);
    if (!after.ok) return { refusal: after.refusal };
    const known = new Set(before.value.map(({ id }) => id));
    stray = after.value.filter(
      ({ id, description }) => !known.has(id) && description === descriptionOf(course),
    );
  }
}

/** The relays' token: kept where they read it, and known to GitLab. */
export async function tokenStep(
  course: SetupCourse,
  controller: AdminController | undefined,
): Promise<readonly SetupLine[]> {
  const { mode, store, nowMs } = course;
  const part = 'token';
  const place = store.place('router-token');
  const absent = (): SetupLine =>
    notThere(
      part,
      mode,
      `would make a token and keep it in ${place}`,
      `there is no token of this controller in ${place}`,
    );
  if (controller === undefined) return [absent()];
  const found = await readTokens(course, controller.id);
  if ('refusal' in found) return [refused(part, found.refusal)];
  const { current, older, lost, isForeign } = found.reading;
  if (isForeign)
    return [
      {
        part,
        standing: 'unknown',
        says: `${place} holds a token that setup did not make: whether GitLab takes it is not known`,
        remedy: 'tollgate gitlab rotate-token puts another one in its place',
      },
    ];
  if (current === undefined) {
    if (mode !== 'change') return [absent()];
    const made = await makeToken(course, controller.id, lost);
    if ('refusal' in made) return [refused(part, made.refusal)];
    const replaced = lost.length === 0 ? '' : `; ${lost.length} whose value was lost revoked`;
    return [{ part, standing: 'done', says: `made token ${made.tokenId}, kept in ${place}${replaced}` }];
  }
  const lines: SetupLine[] = [
    { part, standing: 'right', says: `token ${current.id} is in ${place}, ${usedText(current, nowMs())}` },
  ];
  for (const { id } of lost) {
    const says = `token ${id} was made and its value lost`;
    if (mode !== 'change') {
      lines.push(notThere(part, mode, `would revoke token ${id}, whose value was lost`, says));
      continue;
    }
    const revoked = await course.gitlab.revokeToken(controller.id, id);
    lines.push(
      revoked.ok ? { part, standing: 'done', says: `${says}: revoked` } : refused(part, revoked.refusal),
    );
  }
  if (older.length > 0)
    lines.push({
      part,
      standing: 'wrong',
      says: `a rotation did not end: token ${older.map(({ id }) => id).join(', ')} is still valid`,
      remedy: 'tollgate gitlab rotate-token goes on',
    });
  return lines;
}

/** GitLab writes the last use down every 40 to 55 minutes. Tokens of controllers do not expire. */
function usedText({ createdAtMs, lastUsedAtMs }: ControllerToken, nowMs: number): string {
  const age = `${Math.max(0, Math.floor((nowMs - createdAtMs) / DAY_MS))} days old`;
  if (lastUsedAtMs === undefined) return `${age}; GitLab before 18.10 does not say when it was used`;
  return lastUsedAtMs === null
    ? `${age}, never used yet`
    : `${age}, last used ${new Date(lastUsedAtMs).toISOString().slice(0, 16)}Z or up to an hour later`;
}
