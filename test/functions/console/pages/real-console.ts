/** The console as `npm start` serves it, on DynamoDB Local, with the admit function on the same table. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMISSIONS_PATH, type AdmissionsResponse } from '../../../../functions/core/contract/admissions.ts';
import { type LedgerClock, systemClock } from '../../../../functions/core/environment/environment.ts';
import { indexDirectory } from '../../../../policies/directory.ts';
import { timeoutEstimator } from '../../../../policies/estimate.ts';
import { serveAdmit } from '../../../../scripts/local/admit.ts';
import { openLocalLedger } from '../../../../scripts/local/ledger-source.ts';
import { startUsageCounter } from '../../../../scripts/local/past-month.ts';
import { startLocalConsole } from '../../../../scripts/local/run-console.ts';
import { aPolicy, someLimits } from '../../../policies/documents.ts';

/** 21 Nov 2026, 11:00 in Berlin. */
const NOW_MS = Date.parse('2026-11-21T10:00:00Z');
const ZONE = 'Europe/Berlin';

export interface RealConsole {
  readonly url: string;
  /** Asks the admit function about one job of acme/payments, a euro large. @returns the outcome and its reasons */
  ask(jobId: number): Promise<string>;
  close(): Promise<void>;
}

const DIRECTORY = indexDirectory(
  [
    { id: 100, path: 'acme', personal: false },
    { id: 101, parentId: 100, path: 'acme/payments', personal: false },
    { id: 102, parentId: 100, path: 'acme/platform', personal: false },
    { id: 103, parentId: 100, path: 'acme/data', personal: false },
    { id: 104, parentId: 101, path: 'acme/payments/cards', personal: false },
  ],
  [{ id: 1, groupId: 101, path: 'acme/payments/api' }],
);
const month = { per: 'month', zone: ZONE } as const;
const LIMITS = {
  limits: [
    { on: { group: 100 }, money: 1000, ...month },
    { on: { group: 101 }, money: 3, ...month, owner: 'payments-leads' },
    { on: { group: 102 }, money: 200, ...month },
    { on: { group: 103 }, money: 300, ...month },
    { on: { group: 104 }, money: 50, ...month },
    { on: { group: 101 }, minutes: 0, ...month, mode: 'shadow', owner: 'payments-leads' },
  ],
};

export async function openRealConsole(onProblem: (text: string) => void): Promise<RealConsole> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-console-'));
  // One day for all of it: no month ends in between.
  const clock: LedgerClock = { ...systemClock, nowMs: () => NOW_MS };
  const policy = aPolicy();
  const limits = someLimits(LIMITS, policy, DIRECTORY);
  const rules = { policy, limits, directory: DIRECTORY, estimator: timeoutEstimator };
  const screen = { problem: onProblem, mailed: () => {} };
  const console = await startLocalConsole({ rules, packed: LIMITS, zone: ZONE, clock, screen });
  const place = { whose: () => ({ instance: 'gitlab.example.com' }), dataDir, fresh: false };
  const ledger = await openLocalLedger({ ...place, clock });
  const admit = await serveAdmit(ledger.ledger, rules, ledger.limits, clock);
  const usage = startUsageCounter({ ledger, directory: DIRECTORY, zone: ZONE, clock, onProblem });
  console.open(ledger);
  return {
    url: console.url,
    async ask(jobId) {
      const project = { projectId: 1, projectPath: 'acme/payments/api', namespaceId: 101 };
      const job = { jobId, jobName: 'unit', ...project, rootNamespaceId: 100, timeoutSeconds: 3_600 };
      const response = await fetch(`${admit.url}${ADMISSIONS_PATH}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ requests: [job], remainingMs: 20_000 }),
      });
      const { decisions } = (await response.json()) as AdmissionsResponse;
      await usage.idle();
      const [decision] = decisions;
      return decision?.outcome === 'rejected'
        ? decision.violations.map(({ reason }) => reason.code).join()
        : `${decision?.outcome}`;
    },
    async close() {
      await console.stop();
      await admit.stop();
      await usage.stop();
      ledger.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
