/** Stored webhook keys, one per line: webhooks get the first, and all are accepted. */
import { randomBytes } from 'node:crypto';
import type { SecretName, SecretStore } from './secret-text.ts';

/** A rotation on its way. `second`: the new key is taken already and no webhook has it; `first`: webhooks get it. */
interface HookKeyRotation {
  readonly newKey: 'second' | 'first';
  /** Since when it stands there, or the last webhook was changed; Unix ms. */
  readonly sinceMs: number;
}

interface HookKeyReading {
  readonly name: SecretName;
  readonly keys: readonly string[];
  /** Undefined: none that this program began. */
  readonly rotation: HookKeyRotation | undefined;
}

const NOTE = 'of webhooks';
const ROTATION_NOTE = /^of webhooks; the new key is (second|first) since (\S+)$/;

/** @param signs - GitLab signs with them; else it sends them along. */
export async function readHookKeys(store: SecretStore, signs: boolean): Promise<HookKeyReading> {
  const name = nameOf(signs);
  const kept = await store.read(name);
  const keys = (kept?.value ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const [, newKey, since] = ROTATION_NOTE.exec(kept?.note ?? '') ?? [];
  const sinceMs = Date.parse(since ?? '');
  const isKnown = (newKey === 'second' || newKey === 'first') && !Number.isNaN(sinceMs) && keys.length === 2;
  return { name, keys, rotation: isKnown ? { newKey, sinceMs } : undefined };
}

/** Writes atomically, so that readers never see half a rotation. */
export const writeHookKeys = (
  store: SecretStore,
  signs: boolean,
  keys: readonly string[],
  rotation?: HookKeyRotation,
): Promise<void> =>
  store.write(
    nameOf(signs),
    keys.join('\n'),
    rotation === undefined
      ? NOTE
      : `${NOTE}; the new key is ${rotation.newKey} since ${new Date(rotation.sinceMs).toISOString()}`,
  );

export const newHookKey = (signs: boolean): string =>
  signs ? `whsec_${randomBytes(32).toString('base64')}` : randomBytes(32).toString('hex');

const nameOf = (signs: boolean): SecretName => (signs ? 'webhook-secrets' : 'webhook-tokens');
