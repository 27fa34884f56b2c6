import { newHookKey, readHookKeys, writeHookKeys } from './hook-keys.ts';
import { giveHooks } from './hooks-step.ts';
import type { SetupCourse, SetupLine } from './setup-line.ts';

interface HookKeyCourse extends Pick<SetupCourse, 'gitlab' | 'store' | 'name' | 'nowMs' | 'progress'> {
  readonly url: string;
  /** GitLab signs with the key; else it sends it along. */
  readonly signs: boolean;
  /** Wait time for each of two overlaps. */
  readonly waitMs: number;
  readonly clock: { sleep(delayMs: number): Promise<void> };
}

const part = 'webhooks';
/**
 * Receivers reload keys every five minutes, and so does the group list, which creates webhooks with the
 * first key.
 */
const OVERLAP_MS = 15 * 60_000;
/** A webhook that keeps changing is edited by someone else. */
const PASSES_MAX = 4;
const GOES_ON = 'run the command again: it goes on here';

/**
 * Rotates the webhook key: accept the new key next to the old, set it on every webhook, then drop the old.
 * Each run continues the last one. At every moment the receiver accepts each webhook's key.
 *
 * old → old, new (overlap) → new, old (webhooks, overlap) → new
 */
export async function hookKeyCourse(course: HookKeyCourse): Promise<readonly SetupLine[]> {
  const { store, signs, nowMs } = course;
  const lines: SetupLine[] = [];
  const { name, keys, rotation } = await readHookKeys(store, signs);
  const place = store.place(name);
  const line = (standing: SetupLine['standing'], says: string, remedy?: string): SetupLine => ({
    ...{ part, standing, says },
    ...(remedy !== undefined && { remedy }),
  });
  const [first, second, ...more] = keys;
  if (first === undefined)
    return [line('wrong', `no key is kept in ${place}`, 'tollgate gitlab setup makes the first one')];
  if (more.length > 0 || (second !== undefined && rotation === undefined))
    return [
      line(
        'wrong',
        `${place} has ${keys.length} keys, and this program did not put them there`,
        'leave the one that webhooks have, and run the command again',
      ),
    ];
  const [oldKey, newKey] =
    second === undefined
      ? [first, newHookKey(signs)]
      : rotation?.newKey === 'first'
        ? [second, first]
        : [first, second];
  let sinceMs = rotation?.sinceMs ?? nowMs();
  if (second === undefined) {
    await writeHookKeys(store, signs, [oldKey, newKey], { newKey: 'second', sinceMs });
    lines.push(line('done', `made a new key, kept beside the old one in ${place}`));
  } else lines.push(line('right', 'a rotation goes on: the new key is kept already'));

  const giveNew = (): Promise<void> => {
    sinceMs = nowMs();
    return writeHookKeys(store, signs, [newKey, oldKey], { newKey: 'first', sinceMs });
  };
  if (rotation?.newKey !== 'first') {
    if (!(await waited(sinceMs, course))) {
      const says = `webhooks keep the old key until ${overAt(sinceMs)}: receivers learn the new one`;
      return [...lines, line('wrong', says, GOES_ON)];
    }
    await giveNew();
  }

  for (let passes = 1; passes <= PASSES_MAX; passes += 1) {
    const given = await giveHooks({ ...course, mode: 'change' }, { url: course.url, key: newKey, signs });
    const isChanged = given.some(({ standing }) => standing === 'done');
    if (isChanged || passes === 1 || given.some(({ standing }) => standing === 'wrong')) lines.push(...given);
    const troubles = given.filter(({ standing }) => standing === 'wrong');
    if (troubles.length > 0) {
      const stays = line('wrong', 'the old key stays valid until every webhook has the new one', GOES_ON);
      return [
        ...lines,
        { ...stays, ...(troubles.every(({ silent }) => silent === true) && { silent: true }) },
      ];
    }
    if (isChanged) await giveNew();
    else if (nowMs() - sinceMs >= OVERLAP_MS) {
      await writeHookKeys(store, signs, [newKey]);
      return [...lines, line('done', 'the old key is not taken any more')];
    }
    if (!(await waited(sinceMs, course))) {
      const says = `the old key stays valid until ${overAt(sinceMs)}: deliveries may be on their way`;
      return [...lines, line('wrong', says, GOES_ON)];
    }
  }
  return [...lines, line('wrong', 'webhooks get another key again and again', 'tollgate gitlab status')];
}

const overAt = (sinceMs: number): string => `${new Date(sinceMs + OVERLAP_MS).toISOString().slice(0, 16)}Z`;

/** Waits for the overlap's end, at most the given time. Returns true if it is over. */
async function waited(sinceMs: number, { nowMs, waitMs, clock }: HookKeyCourse): Promise<boolean> {
  const leftMs = sinceMs + OVERLAP_MS - nowMs();
  if (leftMs > waitMs) return false;
  if (leftMs > 0) await clock.sleep(leftMs);
  return true;
}
