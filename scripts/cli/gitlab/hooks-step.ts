import { atOnce } from '../../../functions/core/environment/index.ts';
import { type HookFate, type HookKey, hookFate } from './hook-fate.ts';
import { newHookKey, readHookKeys, writeHookKeys } from './hook-keys.ts';
import { notThere, refused, type SetupCourse, type SetupLine } from './setup-line.ts';

const part = 'webhooks';
/** GitLab takes two calls for a group that has its webhook, and four for one that has none. */
const WIDTH = 8;
/** Number of individually listed groups. */
const TOLD_MAX = 10;
/** One webhook for every top-level group, with job events, which proves itself with the secret that is kept. */
export async function hooksStep(course: SetupCourse, signs: boolean): Promise<readonly SetupLine[]> {
  const { url } = course.hooks;
  if (url === undefined && course.store.kind === 'folder')
    return [
      {
        part,
        standing: 'unknown',
        says: 'not looked at: --webhook-url is not given, and a pilot needs none',
      },
    ];
  const secret = await hookSecret(course, signs);
  const { value } = secret;
  if (value === undefined) return [secret.line];
  const said = 'line' in secret ? [secret.line] : [];
  // A deployment needs the secret before it has an address.
  if (url === undefined)
    return [
      ...said,
      { part, standing: 'unknown', says: 'the webhooks come with --webhook-url, once it is deployed' },
    ];
  return [...said, ...(await giveHooks(course, { url, key: value, signs }))];
}

/** Gives each top-level group its webhook, with a key of its own that is derived from this one. */
export async function giveHooks(
  course: Pick<SetupCourse, 'gitlab' | 'mode' | 'name' | 'progress'>,
  { url, key, signs }: HookKey,
): Promise<readonly SetupLine[]> {
  const groups = await course.gitlab.topLevelGroups();
  if (!groups.ok) return [refused(part, groups.refusal)];
  const fates: { readonly path: string; readonly found: HookFate }[] = [];
  await atOnce(groups.value, WIDTH, async ({ id, full_path }) => {
    fates.push({ path: full_path, found: await hookFate(course, id, { url, key, signs }) });
    course.progress(fates.length, groups.value.length);
  });
  return hookLines(course, fates);
}

/** The secret that is kept, or a new one, kept before any webhook has it. */
async function hookSecret(
  { store, mode }: SetupCourse,
  signs: boolean,
): Promise<
  | { readonly value: string }
  | { readonly value: string; readonly line: SetupLine }
  | { readonly value: undefined; readonly line: SetupLine }
> {
  const { name, keys, rotation } = await readHookKeys(store, signs);
  const place = store.place(name);
  const [value] = keys;
  if (value !== undefined) {
    if (rotation === undefined) return { value };
    const says = `a rotation did not end: ${place} still has the old key as well`;
    const remedy = 'tollgate gitlab rotate-webhook-key goes on';
    return { value, line: { part, standing: 'wrong', says, remedy } };
  }
  const what = signs ? 'a signing token' : 'a secret token';
  const absent = notThere(
    part,
    mode,
    `would make ${what}, keep it in ${place}, and give every group a webhook`,
    `there is no ${what.slice(2)} in ${place}`,
  );
  if (mode === 'look') return { value: undefined, line: absent };
  const made = newHookKey(signs);
  if (mode === 'plan') return { value: made, line: absent };
  await writeHookKeys(store, signs, [made]);
  return { value: made, line: { part, standing: 'done', says: `made ${what}, kept in ${place}` } };
}

function hookLines(
  { mode }: Pick<SetupCourse, 'mode'>,
  fates: readonly { readonly path: string; readonly found: HookFate }[],
): readonly SetupLine[] {
  const of = (fate: HookFate['fate']) => fates.filter(({ found }) => found.fate === fate);
  const groups = (count: number): string => (count === 1 ? '1 group' : `${count} groups`);
  const [right, made, repaired, absent] = [of('right'), of('made'), of('repaired'), of('absent')];
  const lines: SetupLine[] = [];
  if (right.length > 0) lines.push({ part, standing: 'right', says: `${groups(right.length)} had theirs` });
  if (made.length > 0) lines.push({ part, standing: 'done', says: `made for ${groups(made.length)}` });
  if (repaired.length > 0)
    lines.push({
      part,
      standing: 'done',
      says: `repaired for ${groups(repaired.length)}: ${some(repaired)}`,
    });
  if (absent.length > 0)
    lines.push(
      notThere(
        part,
        mode,
        `would make one for ${groups(absent.length)}`,
        `${groups(absent.length)} without: ${some(absent)}`,
      ),
    );
  const troubles = fates.flatMap(({ path, found }): SetupLine[] => {
    if (found.fate === 'refused') {
      const line = refused(part, found.refusal);
      return [{ ...line, says: `${path}: ${line.says}` }];
    }
    if (found.fate === 'differs')
      return [
        notThere(
          part,
          mode === 'change' ? 'look' : mode,
          `would repair ${path}: ${found.why}`,
          `${path}: ${found.why}`,
        ),
      ];
    if (found.fate === 'fails')
      return [
        {
          part,
          standing: 'wrong',
          says: `${path}: ${found.why}`,
          remedy: 'look at the webhook’s recent events in GitLab, then run tollgate gitlab setup',
        },
      ];
    return [];
  });
  lines.push(...troubles.slice(0, TOLD_MAX));
  if (troubles.length > TOLD_MAX)
    lines.push({ part, standing: 'wrong', says: `and ${groups(troubles.length - TOLD_MAX)} more` });
  if (fates.length === 0) lines.push({ part, standing: 'right', says: 'GitLab has no groups' });
  return lines;
}

const NAMED_MAX = 5;
const some = (found: readonly { readonly path: string }[]): string => {
  const named = found.slice(0, NAMED_MAX).map(({ path }) => path);
  return found.length > NAMED_MAX ? `${named.join(', ')}, …` : named.join(', ');
};
