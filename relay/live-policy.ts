import { POLICY_PATH } from '../functions/core/contract/admissions.ts';
import { parsePolicy } from '../policies/document/parse-policy.ts';
import { isRecord, problemText } from '../policies/document/reading.ts';
import type { Policy } from '../policies/policy.ts';
import { type AdmitService, callAdmit } from './admit/admit-call.ts';
import type { RelayObserver } from './events.ts';

/** A relay that starts waits for the first answer. */
const TIMEOUT_MS = 3_000;
/** Functions follow a publication one after the other, and their answers may name different versions meanwhile. */
const EVERY_MS = 1_000;

/**
 * The policy that the admit function decides by, as `build` makes it ready. The relay asks for it at its start, and when an answer names
 * another version. The one before stays until it is received, at first the copy of the image.
 */
export function createLivePolicy<Built extends { readonly policy: Policy | undefined }>(
  options: AdmitService & {
    readonly bundled: Policy | undefined;
    readonly build: (policy: Policy | undefined) => Built;
    readonly observe: RelayObserver;
  },
) {
  const { build, clock, observe } = options;
  let inUse = build(options.bundled);
  let behindSinceMs: number | undefined;
  let nextAtMs = Number.NEGATIVE_INFINITY;

  async function load(): Promise<void> {
    // A relay without a copy knows no rules, and asks for none.
    if (inUse.policy === undefined) return;
    const nowMs = clock.monotonicMs();
    nextAtMs = nowMs + EVERY_MS;
    const problem = await receive(inUse.policy);
    behindSinceMs = problem === undefined ? undefined : (behindSinceMs ?? nowMs);
    const behindMs = nowMs - (behindSinceMs ?? nowMs);
    observe({ type: 'rules', version: inUse.policy?.version, behindMs, problem });
  }

  async function receive({ version }: Policy): Promise<string | undefined> {
    const answer = await callAdmit(options, POLICY_PATH, '{}', TIMEOUT_MS);
    if (answer.kind === 'refused' && answer.status === 404) return undefined;
    if (answer.kind !== 'answered') return answer.error.message;
    const received = isRecord(answer.body) ? answer.body : {};
    const parsed = parsePolicy(received.document, String(received.version));
    if (!parsed.ok) return parsed.problems.map(problemText).join('; ');
    if (parsed.value.version !== version) inUse = build(parsed.value);
    return undefined;
  }

  return {
    current: () => inUse,
    /** Never rejects. */
    load,
    /** Takes the version that an answer of the function names. */
    heard(version: unknown): void {
      const isOther = typeof version === 'string' && version !== inUse.policy?.version;
      if (isOther && clock.monotonicMs() >= nextAtMs) void load();
    },
  };
}
