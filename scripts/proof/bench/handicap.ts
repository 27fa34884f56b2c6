import type { Router } from '../../../relay/router/router.ts';

/** µs, from the environment of the bench's own processes: `npm run bench -- --prove` sets it, and nothing else reads it. */
export const ENV_HANDICAP_MICROS = 'TOLLGATE_BENCH_HANDICAP_MICROS';
/** A regression that the guards of the relay must see. */
export const PROOF_MICROS = 100;
const MICROS_MAX = 10_000;

export function handicapMicros(env: Readonly<Record<string, string | undefined>>): number {
  const micros = Number(env[ENV_HANDICAP_MICROS] ?? 0);
  if (!(micros >= 0 && micros <= MICROS_MAX))
    throw new TypeError(`${ENV_HANDICAP_MICROS} must be 0 to ${MICROS_MAX}`);
  return micros;
}

/** A router whose every question costs this much more CPU before the relay decodes it. */
export function handicapped(router: Router, micros: number): Router {
  if (micros === 0) return router;
  return {
    admitJob: (listener) =>
      router.admitJob({
        onWaiting: () => listener.onWaiting(),
        onQuestion: (bytes) => {
          burn(micros);
          listener.onQuestion(bytes);
        },
        onOversized: (sizeBytes) => listener.onOversized(sizeBytes),
        onEnd: (code, details) => listener.onEnd(code, details),
      }),
    register: (instanceId) => router.register(instanceId),
    unregister: (instanceId) => router.unregister(instanceId),
    tokenReplaced: () => router.tokenReplaced(),
    close: () => router.close(),
  };
}

/** Goes by the clock: CPU time moves in steps of milliseconds on some machines, and a pause so short is rare. */
function burn(micros: number): void {
  const endMs = performance.now() + micros / 1_000;
  while (performance.now() < endMs);
}
