import { expect, test } from 'vitest';
import type { AdmitCallListener, Router } from '../../../../relay/router/router.ts';
import {
  ENV_HANDICAP_MICROS,
  handicapMicros,
  handicapped,
} from '../../../../scripts/proof/bench/handicap.ts';

function aRouter(): { readonly router: Router; ask(bytes: Uint8Array): void } {
  let listener: AdmitCallListener | undefined;
  const router: Router = {
    admitJob: (each) => {
      listener = each;
      return { answer: () => true, cancel: () => {} };
    },
    register: async () => {},
    unregister: async () => {},
    tokenReplaced: () => false,
    close: () => {},
  };
  return { router, ask: (bytes) => listener?.onQuestion(bytes) };
}

test('every question costs the handicap, and arrives as it was', () => {
  const { router, ask } = aRouter();
  const heard: Uint8Array[] = [];
  handicapped(router, 5_000).admitJob({
    onWaiting: () => {},
    onQuestion: (bytes) => heard.push(bytes),
    onOversized: () => {},
    onEnd: () => {},
  });
  const question = Uint8Array.of(1, 2, 3);
  const startedMs = performance.now();
  ask(question);
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(5);
  expect(heard).toEqual([question]);
});

test('without one the router is the same', () => {
  const { router } = aRouter();
  expect(handicapped(router, handicapMicros({}))).toBe(router);
  expect(handicapMicros({ [ENV_HANDICAP_MICROS]: '100' })).toBe(100);
  expect(() => handicapMicros({ [ENV_HANDICAP_MICROS]: 'much' })).toThrow(ENV_HANDICAP_MICROS);
});
