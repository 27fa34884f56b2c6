import { expect, test } from 'vitest';
import { approvalCheck, approvalPath } from '../../../../functions/core/notify/approval-link.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const KEY = 'k'.repeat(32);
const OLD_KEY = 'o'.repeat(40);
const TARGET = { instance: 'gitlab.example.com', request: 'r-1', role: 'finance' } as const;

const tokenBy = (keys: readonly string[], target: Parameters<typeof approvalPath>[0] = TARGET): string =>
  new URL(approvalPath(target, keys, NOW_MS) ?? '', 'https://x').searchParams.get('link') ?? '';
const check = (keys: readonly string[], nowMs = NOW_MS) =>
  approvalCheck({ instance: TARGET.instance, keys: async () => keys, clock: { nowMs: () => nowMs } });

test('a link leads to its request, is good for it and says to whom it was sent', async () => {
  expect(approvalPath(TARGET, [KEY], NOW_MS)).toMatch(/^\/requests\/r-1\?link=[\w-]+\.[\w-]{43}$/);
  expect(await check([KEY])(tokenBy([KEY]), 'r-1')).toEqual({ outcome: 'valid', role: 'finance' });
});

test('one character that is another, anywhere, makes it none', async () => {
  const token = tokenBy([KEY]);
  for (let at = 0; at < token.length; at += 1) {
    // The last character of base64 has bits that stand for nothing.
    const other = token[at] === 'A' ? 'Q' : 'A';
    const altered = `${token.slice(0, at)}${other}${token.slice(at + 1)}`;
    expect(await check([KEY])(altered, 'r-1'), `at ${at}`).toEqual({ outcome: 'altered' });
  }
  for (const none of ['', '.', 'a.b', `${token}x`, `${token}.`, '🎫'.repeat(400)])
    expect(await check([KEY])(none, 'r-1')).toEqual({ outcome: 'altered' });
});

test('it is of no other request, no other GitLab and no other key', async () => {
  const altered = { outcome: 'altered' };
  expect(await check([KEY])(tokenBy([KEY]), 'r-2')).toEqual(altered);
  expect(await check([KEY])(tokenBy([KEY], { ...TARGET, instance: 'other.example.com' }), 'r-1')).toEqual(
    altered,
  );
  expect(await check([OLD_KEY])(tokenBy([KEY]), 'r-1')).toEqual(altered);
  expect(await check([])(tokenBy([KEY]), 'r-1')).toEqual(altered);
});

test('it ends after a week', async () => {
  const week = 7 * 86_400_000;
  expect(await check([KEY], NOW_MS + week - 1)(tokenBy([KEY]), 'r-1')).toMatchObject({ outcome: 'valid' });
  expect(await check([KEY], NOW_MS + week)(tokenBy([KEY]), 'r-1')).toEqual({ outcome: 'expired' });
});

test('while keys are rotated the first one signs and all are taken; a short one is none', async () => {
  expect(await check([KEY, OLD_KEY])(tokenBy([OLD_KEY]), 'r-1')).toMatchObject({ outcome: 'valid' });
  expect(await check([OLD_KEY])(tokenBy([KEY, OLD_KEY]), 'r-1')).toEqual({ outcome: 'altered' });
  expect(approvalPath(TARGET, ['short'], NOW_MS)).toBeUndefined();
});
