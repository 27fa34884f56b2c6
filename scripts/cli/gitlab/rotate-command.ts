import { MINUTE_MS } from '../../../policies/limits/calendar.ts';
import { command, orElse, required, text, whole } from '../../terminal/define.ts';
import { findController, makeToken, readTokens } from './setup-controller.ts';
import { ADMIN_FLAGS, type Admin, readHookUrl, runAsAdmin, SetupLines } from './setup-flags.ts';
import { giveHooks, newHookKey, readHookKeys, signsHooks, writeHookKeys } from './setup-webhooks.ts';

const GOES_ON = 'run the command again: it goes on here';
const LOOK_EVERY_MS = 10_000;
const EXITS = { 0: 'rotated', 1: 'GitLab does not answer' };
const waitFlag = (help: string) => orElse(text('<minutes>', help, whole(0, 60)), 15);

const rotateTokenCommand = command({
  name: 'gitlab rotate-token',
  about: `No relay is ever without a valid token. After an interruption, run the same command again: it continues.`,
  flags: { wait: waitFlag('minutes to wait for the first use, 0 to 60'), ...ADMIN_FLAGS },
  examples: ['tollgate gitlab rotate-token --gitlab https://gitlab.example.com --token-file admin-token'],
  exits: { ...EXITS, 2: 'not yet: the old token is still valid' },
  run: async ({ flags }, io) =>
    runAsAdmin(flags, io, (admin, lines) => rotateToken(admin, flags.wait * MINUTE_MS, lines)),
});

/** Each run continues the last one. A token is never revoked before its successor was seen in use. */
async function rotateToken(admin: Admin, waitMs: number, lines: SetupLines): Promise<void> {
  const { gitlab, store, place, name } = admin;
  const makesIt = 'tollgate gitlab setup makes it';
  const controller = await findController(admin, lines);
  if (controller === undefined) throw lines.stop('controller', `there is no controller "${name}"`, makesIt);
  const { id: controllerId } = controller;
  const { isKept, current, older, lost } = await readTokens(admin, controllerId, lines);
  if (older.length > 0)
    lines.add('token', 'right', `a rotation goes on: token ${current?.id} is kept already`);
  else {
    if (!isKept) throw lines.stop('token', 'no token is kept', makesIt);
    const made = await makeToken(admin, controllerId, lost, lines);
    lines.add('token', 'done', `made token ${made}, kept in ${store.place('router-token')}`);
    if (current === undefined)
      throw lines.stop(
        'token',
        'which token was there before is not known, so none was revoked',
        `when the relays have the new one: glab runner-controller token list ${controllerId}, and revoke the others`,
      );
  }
  const untilMs = place.clock.monotonicMs() + waitMs;
  const pickUp =
    store.kind === 'folder'
      ? 'relays that read this file take it within three minutes'
      : 'relays read the parameter every ten minutes; a restart is faster';
  for (;;) {
    const now = await readTokens(admin, controllerId, lines);
    const usedAtMs = now.current?.lastUsedAtMs;
    if (typeof usedAtMs === 'number') {
      for (const { id } of [...now.older, ...now.lost]) {
        lines.need('token', await gitlab.revokeToken(controllerId, id));
        lines.add('token', 'done', `revoked token ${id}`);
      }
      return;
    }
    if (usedAtMs === undefined)
      throw lines.stop(
        'token',
        `GitLab before 18.10 does not say when a token was used; the old one stays. ${pickUp}`,
        `restart the relays; once each logs "connected": glab runner-controller token list ${controllerId}, and revoke the old one`,
      );
    if (place.clock.monotonicMs() >= untilMs) {
      const says = `no relay has used the new token yet, so the old one stays valid; ${pickUp}`;
      throw lines.stop('token', says, GOES_ON);
    }
    await place.clock.sleep(LOOK_EVERY_MS);
  }
}

const rotateHookKeyCommand = command({
  name: 'gitlab rotate-webhook-key',
  about: `Before GitLab 19.0 keys are secret tokens. A quarter of an hour after the new key was stored, when receivers accept both, it is
set on the webhook of every top-level group. Another quarter of an hour later the old one is removed. After an interruption, run
the same command again: it continues.`,
  flags: {
    'webhook-url': required(text('<url>', 'the webhook address (WebhookUrl of a deployment)', readHookUrl)),
    wait: waitFlag('minutes to wait in each of the two steps, 0 to 60'),
    ...ADMIN_FLAGS,
  },
  examples: [
    'tollgate gitlab rotate-webhook-key --gitlab https://gitlab.example.com --token-file admin-token --webhook-url https://x.example.com/',
  ],
  exits: { ...EXITS, 2: 'not yet: both keys are valid' },
  run: async ({ flags }, io) =>
    runAsAdmin(flags, io, (admin, lines) =>
      rotateHookKey(admin, flags['webhook-url'], flags.wait * MINUTE_MS, lines),
    ),
});

export const commands = [rotateTokenCommand, rotateHookKeyCommand];

/** Receivers reload keys every five minutes, and so does the group list, which makes webhooks with the first key. */
const OVERLAP_MS = 15 * MINUTE_MS;
/** A webhook that keeps changing is edited by someone else. */
const PASSES_MAX = 4;

/** Each run continues the last one. Receivers accept each key: old → old, new (overlap) → new, old (webhooks, overlap) → new. */
async function rotateHookKey(admin: Admin, url: string, waitMs: number, lines: SetupLines): Promise<void> {
  const { store, gitlab } = admin;
  const { nowMs, sleep } = admin.place.clock;
  const { version } = lines.need('version', await gitlab.metadata());
  const signs = signsHooks(version);
  const { place, keys, rotation } = await readHookKeys(store, signs);
  const [first, second] = keys;
  if (first === undefined)
    throw lines.stop('webhooks', `no key is kept in ${place}`, 'tollgate gitlab setup makes the first one');
  if (second !== undefined && rotation === undefined)
    throw lines.stop(
      'webhooks',
      `${place} has ${keys.length} keys, and this program did not put them there`,
      'leave the one that webhooks have, and run the command again',
    );
  let sinceMs = rotation?.sinceMs ?? nowMs();
  const overlap = async (why: string): Promise<void> => {
    const leftMs = sinceMs + OVERLAP_MS - nowMs();
    const until = `${new Date(sinceMs + OVERLAP_MS).toISOString().slice(0, 16)}Z`;
    if (leftMs > waitMs) throw lines.stop('webhooks', `${why} until ${until}`, GOES_ON);
    if (leftMs > 0) await sleep(leftMs);
  };
  const isNewFirst = rotation?.newKey === 'first';
  const [oldKey, newKey] = isNewFirst ? [second ?? first, first] : [first, second ?? newHookKey(signs)];
  if (second === undefined) {
    await writeHookKeys(store, signs, [oldKey, newKey], { newKey: 'second', sinceMs });
    lines.add('webhooks', 'done', `made a new key, stored next to the old one in ${place}`);
  } else lines.add('webhooks', 'right', 'a rotation goes on: the new key is kept already');
  const putNewFirst = (): Promise<void> => {
    sinceMs = nowMs();
    return writeHookKeys(store, signs, [newKey, oldKey], { newKey: 'first', sinceMs });
  };
  if (!isNewFirst) {
    await overlap('receivers learn the new key: webhooks keep the old key');
    await putNewFirst();
  }
  for (let passes = 1; passes <= PASSES_MAX; passes += 1) {
    const pass = new SetupLines();
    await pass.step(() => giveHooks(admin, true, url, newKey, pass));
    const isChanged = pass.has('done');
    // Until every webhook has the new key, the old one stays valid.
    if (isChanged || passes === 1 || pass.has('wrong')) lines.all.push(...pass.all);
    if (pass.has('wrong')) return;
    if (isChanged) await putNewFirst();
    else if (nowMs() - sinceMs >= OVERLAP_MS) {
      await writeHookKeys(store, signs, [newKey]);
      return lines.add('webhooks', 'done', 'the old key is not taken any more');
    }
    await overlap('deliveries may be on their way: the old key stays valid');
  }
  throw lines.stop('webhooks', 'webhooks get another key again and again', 'tollgate gitlab status');
}
