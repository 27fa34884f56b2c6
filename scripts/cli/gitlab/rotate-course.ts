import type { AdminController, ControllerToken } from '../../../functions/core/gitlab/index.ts';
import { refused, type SetupCourse, type SetupLine } from './setup-line.ts';
import { makeToken, readTokens } from './token-step.ts';

interface RotateCourse extends Pick<SetupCourse, 'gitlab' | 'store' | 'name'> {
  /** Wait time for the new token's first use. */
  readonly waitMs: number;
  /** The operator confirmed that relays use the new token, if GitLab does not report it. */
  readonly seen: boolean;
  readonly clock: { monotonicMs(): number; sleep(delayMs: number): Promise<void> };
}

const part = 'token';
const LOOK_EVERY_MS = 10_000;

/**
 * New token, kept; then its first use; then the old one revoked. Each run goes on where the last one stopped, and a token is
 * never revoked before the one after it was seen in use.
 */
export async function rotateCourse(
  course: RotateCourse,
  controller: AdminController,
): Promise<readonly SetupLine[]> {
  const lines: SetupLine[] = [];
  const before = await readTokens(course, controller.id);
  if ('refusal' in before) return [refused(part, before.refusal)];
  const { reading } = before;
  if (reading.older.length === 0) {
    if (!reading.isKept)
      return [
        {
          part,
          standing: 'wrong',
          says: 'no token is kept, so there is none to rotate',
          remedy: 'tollgate gitlab setup makes the first one',
        },
      ];
    const made = await makeToken(course, controller.id, reading.lost);
    if ('refusal' in made) return [refused(part, made.refusal)];
    lines.push({
      part,
      standing: 'done',
      says: `made token ${made.tokenId}, kept in ${course.store.place('router-token')}`,
    });
    if (reading.current === undefined)
      return [
        ...lines,
        {
          part,
          standing: 'wrong',
          says: 'which token was there before is not known, so none was revoked',
          remedy: `when the relays have the new one: glab runner-controller token list ${controller.id}, and revoke the others`,
        },
      ];
  } else {
    for (const { id } of reading.lost) {
      const revoked = await course.gitlab.revokeToken(controller.id, id);
      if (!revoked.ok) return [...lines, refused(part, revoked.refusal)];
    }
    lines.push({
      part,
      standing: 'right',
      says: `a rotation goes on: token ${reading.current?.id} is kept already`,
    });
  }
  const seen = await waitForUse(course, controller.id);
  if ('line' in seen) return [...lines, seen.line];
  for (const { id } of seen.older) {
    const revoked = await course.gitlab.revokeToken(controller.id, id);
    if (!revoked.ok) return [...lines, refused(part, revoked.refusal)];
    lines.push({ part, standing: 'done', says: `revoked token ${id}` });
  }
  return lines;
}

async function waitForUse(
  course: RotateCourse,
  controllerId: number,
): Promise<{ readonly older: readonly ControllerToken[] } | { readonly line: SetupLine }> {
  const { clock, store, waitMs } = course;
  const untilMs = clock.monotonicMs() + waitMs;
  const pickUp =
    store.kind === 'folder'
      ? 'relays that read this file take the new token within a second, and use it with the next stream or registration, three minutes at most'
      : 'relays read the parameter every ten minutes; a restart is faster';
  for (;;) {
    const found = await readTokens(course, controllerId);
    if ('refusal' in found) return { line: refused(part, found.refusal) };
    const { current, older } = found.reading;
    const lastUsedAtMs = current?.lastUsedAtMs;
    if (course.seen || typeof lastUsedAtMs === 'number') return { older };
    if (lastUsedAtMs === undefined)
      return {
        line: {
          part,
          standing: 'wrong',
          says: `GitLab before 18.10 does not say when a token was used; the old one stays. ${pickUp}`,
          remedy: 'restart the relays; once each logs "connected": the same command with --seen',
        },
      };
    if (clock.monotonicMs() >= untilMs)
      return {
        line: {
          part,
          standing: 'wrong',
          says: `no relay has used the new token yet, so the old one stays valid; ${pickUp}`,
          remedy: 'run the command again: it goes on here',
        },
      };
    await clock.sleep(LOOK_EVERY_MS);
  }
}
