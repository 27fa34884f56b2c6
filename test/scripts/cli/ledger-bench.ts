import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { decide } from '../../../functions/core/admission/decide.ts';
import type { Rules } from '../../../functions/core/admission/judge.ts';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { LedgerStore } from '../../../functions/core/ledger/store.ts';
import type { Decision } from '../../../policies/decision.ts';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { type LedgerAccess, type OpenLedger, readOnly } from '../../../scripts/cli/open-ledger.ts';
import { readRules } from '../../../scripts/cli/read-rules.ts';
import { policyDocument } from '../../policies/documents.ts';
import { MemoryStore } from '../../support/ledger/memory-store.ts';
import { manualClock } from '../../support/ledger/test-clock.ts';
import { aProject, recordingIo } from './desk-run.ts';
import { commandOf, type Surroundings, surrounded } from './stand-ins.ts';

const INSTANCE = 'gitlab.example.com';

const DIRECTORY = {
  groups: [
    { id: 100, path: 'acme' },
    { id: 101, parent: 100, path: 'acme/payments' },
    { id: 102, parent: 100, path: 'acme/platform' },
  ],
  projects: [{ id: 1001, group: 101, path: 'acme/payments/checkout' }],
};

interface CommandParts extends Surroundings {
  readonly store?: LedgerStore | undefined;
  /** Further parts of the ledger that the command finds. */
  readonly beside?: Partial<LedgerAccess>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Documents in a folder of their own, a ledger that decides by them, and a desk that reads both. */
export function ledgerBench(parts: {
  readonly policy?: object;
  readonly limits?: readonly object[];
  /** Other lists of the limits document: `group_defaults`, `personal_default`. */
  readonly beside?: object;
}) {
  const root = aProject();
  const folder = root.slice(0, -1);
  const write = (name: string, document: object): void =>
    writeFileSync(join(folder, `${name}.yaml`), JSON.stringify(document));
  const where = { cwd: folder, root };
  const files = { policy: 'policy.yaml', limits: 'limits.yaml', directory: 'directory.yaml' };
  const documents = (policy: object, limits: readonly object[], directory: object = DIRECTORY): Rules => {
    write('policy', policyDocument(policy));
    write('limits', { limits, ...parts.beside });
    write('directory', directory);
    return { ...readRules(files, where), estimator: timeoutEstimator };
  };
  const rules = documents(parts.policy ?? {}, parts.limits ?? []);
  const flags = ['policy', 'limits', 'directory'].flatMap((name) => [`--${name}`, `${name}.yaml`]);
  const clock = manualClock();
  const store = new MemoryStore({ instance: INSTANCE, clock });
  const ledger = createLedger({ store, clock });

  /** @param by - the documents the bench was made with, unless told otherwise. */
  const ask = (requests: readonly AdmissionRequest[], by: Rules = rules): Promise<readonly Decision[]> => {
    const deps = { ledger, currentRules: async () => by, clock, log: silentLog };
    return decide(requests, clock.monotonicMs() + 60_000, deps);
  };
  let open = 0;
  const opening =
    (table: LedgerStore = readOnly(store), beside: Partial<LedgerAccess> = {}): OpenLedger =>
    async () => {
      open += 1;
      const close = async (): Promise<void> => {
        open -= 1;
      };
      return { store: table, description: 'the test ledger', instance: INSTANCE, close, ...beside };
    };
  const terminal = () => recordingIo(root, { cwd: folder, columns: 160, nowMs: clock.nowMs });
  /** Runs one command on the ledger, with the documents it takes: its errors are thrown, not printed. */
  const run = async (name: string, args: readonly string[], by: CommandParts = {}) => {
    const { io, told } = terminal();
    const command = await commandOf(name);
    const documents = Object.entries(files).flatMap(([flag, file]) =>
      flag in command.flags ? [`--${flag}`, file] : [],
    );
    const around = surrounded({ open: opening(by.store, by.beside), ...by });
    const running = command.run([...args, ...documents], { ...io, env: by.env ?? {}, ...around });
    const code = await running.finally(() => expect(open, 'the ledger is closed again').toBe(0));
    return { code, ...told };
  };
  return {
    folder,
    documents,
    flags,
    clock,
    store,
    ledger,
    ask,
    opening,
    terminal,
    run,
    stillOpen: () => open,
  };
}

export const aRequest = (jobId: number, more: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  jobId,
  jobName: 'unit',
  pipelineId: 5000,
  projectId: 1001,
  projectPath: 'acme/payments/checkout',
  namespaceId: 101,
  rootNamespaceId: 100,
  userId: 7,
  ref: 'main',
  refProtected: true,
  image: 'alpine:3.22',
  timeoutSeconds: 3600,
  variables: {},
  ...more,
});
