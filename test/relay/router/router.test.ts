import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { RelayEvent } from '../../../relay/events.ts';
import { startRegistration } from '../../../relay/router/registration.ts';
import { RouterStatus, STATUS } from '../../../relay/router/router.ts';
import { parseTarget } from '../../../relay/router/target.ts';
import { fileToken } from '../../../relay/token.ts';
import { handClock } from '../../../scripts/local/clock.ts';

test.each([
  [
    'grpc://kas.example.com',
    { host: 'kas.example.com', port: 80, secure: false, tunnel: false, authority: 'kas.example.com' },
  ],
  [
    'ws://127.0.0.1:8154/-/kubernetes-agent/',
    { port: 8154, url: 'ws://127.0.0.1:8154/-/kubernetes-agent/', tunnel: true, secure: false },
  ],
  ['wss://kas.example.com', { port: 443, secure: true, tunnel: true, url: 'wss://kas.example.com' }],
  ['grpcs://[::1]:8150', { host: '::1', port: 8150, authority: '[::1]:8150' }],
])('%s is understood as GitLab Runner does', (text, expected) => {
  expect(parseTarget(text)).toMatchObject(expected);
});

test.each([
  ['https://kas.example.com', 'must begin with grpc://, grpcs://, ws:// or wss://'],
  ['grpc:kas.example.com', 'must begin with'],
  ['grpc://host:0', 'has port 0'],
  ['grpcs://host/path', 'has a path, which gRPC has no use for; write grpcs://host'],
  ['wss://user@host', 'carries credentials'],
  ['wss://host?x=1', 'carries a query or fragment'],
])('%s is refused with its remedy', (text, problem) => {
  expect(() => parseTarget(text)).toThrow(
    expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(problem) }),
  );
});

describe('registration', () => {
  /** A registration before a router that answers with `outcomes`, in turn; the last one stays. */
  function bench(...outcomes: (number | 'ok' | 'never')[]) {
    let closed: (error: Error) => void = () => {};
    const clock = handClock(1_000);
    const events: RelayEvent[] = [];
    const registered: bigint[] = [];
    const unregistered: bigint[] = [];
    const settle = async (): Promise<void> => {
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    };
    const answer = (outcome: number | 'ok' | 'never' | undefined): Promise<void> => {
      if (outcome === 'never')
        return new Promise((_resolve, reject) => {
          closed = reject;
        });
      return outcome === 'ok' || outcome === undefined
        ? Promise.resolve()
        : Promise.reject(new RouterStatus(outcome, 'refused'));
    };
    const router = {
      register: (instanceId: bigint) => {
        registered.push(instanceId);
        return answer(outcomes.length > 1 ? outcomes.shift() : outcomes[0]);
      },
      unregister: (instanceId: bigint) => {
        unregistered.push(instanceId);
        return answer(outcomes[0]);
      },
    };
    const start = () =>
      startRegistration({
        router,
        clock,
        random: () => 0.5,
        observe: (event) => events.push(event),
      });
    /** As a channel does with calls that are under way when it is closed. */
    const close = (): void => closed(new RouterStatus(STATUS.UNAVAILABLE, 'Channel has been shut down'));
    return { clock, events, registered, unregistered, settle, start, close };
  }

  test('the controller registers at the start and every three minutes, with one instance id', async () => {
    const { start, clock, settle, registered, events } = bench('ok');
    start();
    await settle();
    clock.advance(180_000);
    await settle();
    clock.advance(180_000);
    await settle();
    expect(registered).toEqual(Array(3).fill(registered[0]));
    expect(events.map((event) => event.type)).toEqual(['registered', 'registered', 'registered']);
  });

  test('a failure is reported, and the next try comes a minute later', async () => {
    const { start, clock, settle, registered, events } = bench(STATUS.UNAVAILABLE, 'ok');
    start();
    await settle();
    clock.advance(60_000);
    await settle();
    expect(registered).toHaveLength(2);
    expect(events).toEqual([
      { type: 'registration_failed', code: STATUS.UNAVAILABLE, details: 'refused' },
      { type: 'registered' },
    ]);
  });

  test('stopping takes the announcement back and ends the period', async () => {
    const { start, clock, settle, registered, unregistered } = bench('ok');
    const registration = start();
    await settle();
    await registration.stop();
    clock.advance(3_600_000);
    await settle();
    expect(unregistered).toEqual(registered);
    expect(registered).toHaveLength(1);
  });

  test('a router that does not answer the goodbye holds up the end for two seconds at most', async () => {
    const { start, clock, settle, events, close } = bench('ok', 'never');
    const registration = start();
    await settle();
    const stopping = registration.stop();
    clock.advance(2_000);
    await stopping;
    // The relay closes the router next: that the goodbye fails by it is nobody's news.
    close();
    await settle();
    expect(events.map(({ type }) => type)).toEqual(['registered']);
  });
});

describe('the token in a file', () => {
  const dir = mkdtempSync(join(tmpdir(), 'token-'));
  afterAll(() => rmSync(dir, { recursive: true }));

  function tokenFile(name: string, content: string) {
    const path = join(dir, name);
    writeFileSync(path, content);
    let nowMs = 0;
    const source = fileToken(path, () => nowMs);
    return {
      path,
      source,
      write: (next: string) => writeFileSync(path, next),
      pass: (ms: number) => {
        nowMs += ms;
      },
    };
  }

  test('a rotated token is used within a second, without a restart', () => {
    const file = tokenFile('rotate', 'glrct-one');
    expect(file.source.read()).toBe('glrct-one');
    file.write('glrct-second');
    file.pass(1_000);
    expect(file.source.read()).toBe('glrct-second');
  });

  test.each([
    ['empty', '\n', 'is empty'],
    ['two-lines', 'glrct-secret\nX-Header: 1', 'one line of plain text'],
    ['long', 'glrct-secret'.repeat(1_000), 'too long for a token'],
    ['large', 'glrct-secret'.repeat(100_000), 'too long for a token'],
  ])(
    'a token file that cannot be a header (%s) is refused without showing what is in it',
    (name, content, problem) => {
      const { source } = tokenFile(name, content);
      expect(() => source.read()).toThrow(
        expect.objectContaining({ code: 'token_unreadable', message: expect.stringContaining(problem) }),
      );
      expect(() => source.read()).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('secret') }),
      );
    },
  );
});
