/** `tollgate gitlab rotate-token` and `rotate-webhook-key`. */
import type { AdminController } from '../../../functions/core/gitlab/administration.ts';
import { MINUTE_MS } from '../../../policies/limits/calendar.ts';
import { command } from '../../terminal/define-command.ts';
import { orElse, required, text, toggle, whole } from '../../terminal/flags.ts';
import { makeToken, namedControllers, readTokens } from './setup-controller.ts';
import { ADMIN_FLAGS, printLines, readAdmin, readHookUrl } from './setup-flags.ts';
import { signsHooks } from './setup-instance.ts';
import { SetupLines } from './setup-step.ts';
import { giveHooks, newHookKey, readHookKeys, writeHookKeys } from './setup-webhooks.ts';

const WAIT_MINUTES = 15;
const GOES_ON = 'run the command again: it goes on here';

const EXITS = { 0: 'rotated', 1: 'GitLab does not answer' };
const waitFlag = (help: string) => orElse(text('<minutes>', help, whole(0, 60)), WAIT_MINUTES);

const rotateTokenCommand = command({
  name: 'gitlab rotate-token',
  about: `Makes a second token, stores it in the place of the first, waits until GitLab reports its use, and only then revokes the
first: no relay is ever without a valid token. After an interruption, run the same command again: it continues.`,
  flags: {
    wait: waitFlag('how long it waits for the first use, 0 to 60'),
    seen: toggle(
      'you have seen the relays connect with the new token, on a GitLab before 18.10, which does not report it',
    ),
    ...ADMIN_FLAGS,
  },
  examples: ['tollgate gitlab rotate-token --gitlab https://gitlab.example.com --token-file admin-token'],
  exits: { ...EXITS, 2: 'not yet: the old token is still valid' },
  run: async ({ flags }, io) => {
    const admin = readAdmin(flags, io);
    const lines = new SetupLines();
    await lines.step(async () => {
      const found = lines.need('controller', await namedControllers(admin.gitlab, admin));
      const [controller, ...others] = found;
      if (controller === undefined || others.length > 0)
        throw lines.stop(
          'controller',
          `GitLab has ${found.length} controllers called "${admin.name}"`,
          controller === undefined ? 'tollgate gitlab setup makes it' : 'say which with --controller',
        );
      const rotation = { ...admin, waitMs: flags.wait * MINUTE_MS, isSeen: flags.seen };
      await rotateToken(rotation, controller, lines);
    });
    return printLines(lines.all, admin.place, flags.json, io);
  },
});

type Admin = ReturnType<typeof readAdmin>;

interface TokenRotation extends Admin {
  /** Wait time for the new token's first use. */
  readonly waitMs: number;
  /** The operator confirmed that relays use the new token, if GitLab does not report it. */
  readonly isSeen: boolean;
}

/**
 * Stores a new token, waits for its first use, then revokes the old one. Each run continues the last one. A token is
 * never revoked before its successor was seen in use.
 */
async function rotateToken(
  rotation: TokenRotation,
  controller: AdminController,
  lines: SetupLines,
): Promise<void> {
  const { gitlab, store } = rotation;
  const revoke = async (id: number) => lines.need('token', await gitlab.revokeToken(controller.id, id));
  const reading = await readTokens(rotation, controller.id, lines);
  if (reading.older.length > 0) {
    for (const { id } of reading.lost) await revoke(id);
    lines.add('token', 'right', `a rotation goes on: token ${reading.current?.id} is kept already`);
  } else {
    if (!reading.isKept)
      throw lines.stop(
        'token',
        'no token is kept, so there is none to rotate',
        'tollgate gitlab setup makes the first one',
      );
    const made = await makeToken(rotation, controller.id, reading.lost, lines);
    lines.add('token', 'done', `made token ${made}, kept in ${store.place('router-token')}`);
    if (reading.current === undefined)
      throw lines.stop(
        'token',
        'which token was there before is not known, so none was revoked',
        `when the relays have the new one: glab runner-controller token list ${controller.id}, and revoke the others`,
      );
  }
  await waitForUse(rotation, controller.id, lines);
  for (const { id } of (await readTokens(rotation, controller.id, lines)).older) {
    await revoke(id);
    lines.add('token', 'done', `revoked token ${id}`);
  }
}

const LOOK_EVERY_MS = 10_000;

async function waitForUse(rotation: TokenRotation, controllerId: number, lines: SetupLines): Promise<void> {
  const { clock } = rotation.place;
  const untilMs = clock.monotonicMs() + rotation.waitMs;
  const pickUp =
    rotation.store.kind === 'folder'
      ? 'relays that read this file take the new token within a second, and use it with the next stream or registration, three minutes at most'
      : 'relays read the parameter every ten minutes; a restart is faster';
  for (;;) {
    const { current } = await readTokens(rotation, controllerId, lines);
    if (rotation.isSeen || typeof current?.lastUsedAtMs === 'number') return;
    if (current?.lastUsedAtMs === undefined)
      throw lines.stop(
        'token',
        `GitLab before 18.10 does not say when a token was used; the old one stays. ${pickUp}`,
        'restart the relays; once each logs "connected": the same command with --seen',
      );
    if (clock.monotonicMs() >= untilMs)
      throw lines.stop(
        'token',
        `no relay has used the new token yet, so the old one stays valid; ${pickUp}`,
        GOES_ON,
      );
    await clock.sleep(LOOK_EVERY_MS);
  }
}

const rotateHookKeyCommand = command({
  name: 'gitlab rotate-webhook-key',
  about: `Makes a new signing token (before GitLab 19.0 a secret token) and stores it next to the old one. A quarter of an hour later,
when receivers accept both, it sets the new one on the webhook of every top-level group. Another quarter of an hour later it removes
the old one. No delivery is refused meanwhile. After an interruption, run the same command again: it continues.`,
  flags: {
    'webhook-url': required(text('<url>', 'where webhooks go (WebhookUrl of a deployment)', readHookUrl)),
    wait: waitFlag('how long it waits for each of the two quarters, 0 to 60'),
    ...ADMIN_FLAGS,
  },
  examples: [
    'tollgate gitlab rotate-webhook-key --gitlab https://gitlab.example.com --token-file admin-token --webhook-url https://x.example.com/',
  ],
  exits: { ...EXITS, 2: 'not yet: both keys are valid' },
  run: async ({ flags }, io) => {
    const admin = readAdmin(flags, io);
    const lines = new SetupLines();
    await lines.step(async () => {
      const { version } = lines.need('version', await admin.gitlab.metadata());
      const rotation = { ...admin, url: flags['webhook-url'], waitMs: flags.wait * MINUTE_MS };
      await rotateHookKey({ ...rotation, signs: signsHooks(version) }, lines);
    });
    return printLines(lines.all, admin.place, flags.json, io);
  },
});

export const commands = [rotateTokenCommand, rotateHookKeyCommand];

interface HookKeyRotation extends Admin {
  readonly url: string;
  /** GitLab signs with the key; older versions send it along. */
  readonly signs: boolean;
  /** Wait time for each of the two overlaps. */
  readonly waitMs: number;
}

/** Receivers reload keys every five minutes, and so does the group list, which makes webhooks with the first key. */
const OVERLAP_MS = 15 * MINUTE_MS;
/** A webhook that keeps changing is edited by someone else. */
const PASSES_MAX = 4;

/**
 * Stores the new key next to the old, sets it on every webhook, then drops the old one. Each run continues the last
 * one. At every moment the receiver accepts each webhook's key.
 *
 * old → old, new (overlap) → new, old (webhooks, overlap) → new
 */
async function rotateHookKey(given: HookKeyRotation, lines: SetupLines): Promise<void> {
  const { store, signs, url } = given;
  const { nowMs } = given.place.clock;
  const { name, keys, rotation } = await readHookKeys(store, signs);
  const place = store.place(name);
  const [first, second, ...more] = keys;
  if (first === undefined)
    throw lines.stop('webhooks', `no key is kept in ${place}`, 'tollgate gitlab setup makes the first one');
  if (more.length > 0 || (second !== undefined && rotation === undefined))
    throw lines.stop(
      'webhooks',
      `${place} has ${keys.length} keys, and this program did not put them there`,
      'leave the one that webhooks have, and run the command again',
    );
  const isNewFirst = rotation?.newKey === 'first';
  const oldKey = isNewFirst && second !== undefined ? second : first;
  const newKey = isNewFirst ? first : (second ?? newHookKey(signs));
  let sinceMs = rotation?.sinceMs ?? nowMs();
  if (second === undefined) {
    await writeHookKeys(store, signs, [oldKey, newKey], { newKey: 'second', sinceMs });
    lines.add('webhooks', 'done', `made a new key, kept beside the old one in ${place}`);
  } else lines.add('webhooks', 'right', 'a rotation goes on: the new key is kept already');
  const putNewFirst = (): Promise<void> => {
    sinceMs = nowMs();
    return writeHookKeys(store, signs, [newKey, oldKey], { newKey: 'first', sinceMs });
  };
  if (!isNewFirst) {
    if (!(await overlapEnds(sinceMs, given)))
      throw lines.stop(
        'webhooks',
        `webhooks keep the old key until ${overAt(sinceMs)}: receivers learn the new one`,
        GOES_ON,
      );
    await putNewFirst();
  }
  for (let passes = 1; passes <= PASSES_MAX; passes += 1) {
    const pass = new SetupLines();
    await pass.step(() => giveHooks({ ...given, mode: 'change' }, { url, key: newKey, signs }, pass));
    const [isChanged, isWrong] = [pass.has('webhooks', 'done'), pass.has('webhooks', 'wrong')];
    if (isChanged || passes === 1 || isWrong) lines.all.push(...pass.all);
    if (isWrong) {
      const isSilent = pass.all.every(({ standing, silent }) => standing !== 'wrong' || silent === true);
      const says = 'the old key stays valid until every webhook has the new one';
      const line = { part: 'webhooks', standing: 'wrong', says, remedy: GOES_ON } as const;
      lines.all.push({ ...line, ...(isSilent && { silent: true }) });
      return;
    }
    if (isChanged) await putNewFirst();
    else if (nowMs() - sinceMs >= OVERLAP_MS) {
      await writeHookKeys(store, signs, [newKey]);
      return lines.add('webhooks', 'done', 'the old key is not taken any more');
    }
    if (!(await overlapEnds(sinceMs, given)))
      throw lines.stop(
        'webhooks',
        `the old key stays valid until ${overAt(sinceMs)}: deliveries may be on their way`,
        GOES_ON,
      );
  }
  throw lines.stop('webhooks', 'webhooks get another key again and again', 'tollgate gitlab status');
}

const overAt = (sinceMs: number): string => `${new Date(sinceMs + OVERLAP_MS).toISOString().slice(0, 16)}Z`;

/** Waits for the overlap's end, at most the given time. Returns true if it is over. */
async function overlapEnds(sinceMs: number, { waitMs, place }: HookKeyRotation): Promise<boolean> {
  const leftMs = sinceMs + OVERLAP_MS - place.clock.nowMs();
  if (leftMs > waitMs) return false;
  if (leftMs > 0) await place.clock.sleep(leftMs);
  return true;
}
