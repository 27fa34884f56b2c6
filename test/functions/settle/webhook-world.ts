import { Webhook } from 'standardwebhooks';
import type { Log } from '../../../functions/core/environment/environment.ts';
import type { GitLabJob } from '../../../functions/core/gitlab/gitlab.ts';
import { groupHookKey } from '../../../functions/core/gitlab/group-hooks.ts';
import { chargeBypass } from '../../../functions/core/job-ends/charge-bypass.ts';
import { dynamoReportedEnds, dynamoSweepCheckpoints } from '../../../functions/core/ledger/checkpoints.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import { ledgerKeys } from '../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import type { Item } from '../../../functions/core/store/operation.ts';
import { createSettleApp, JOBS_PATH } from '../../../functions/settle/app.ts';
import { consume } from '../../../functions/settle/consume.ts';
import type { SweepReport } from '../../../functions/sweep/run.ts';
import { newSweepMemory } from '../../../functions/sweep/run.ts';
import { sweep } from '../../../functions/sweep/sweep.ts';
import { indexDirectory } from '../../../policies/directory.ts';
import { flowRules } from '../../support/flow/flow.ts';
import { anAsk, claim, counter, someFacts } from '../../support/ledger/asks.ts';
import { manualClock } from '../../support/ledger/test-clock.ts';
import { FakeGitLab } from '../sweep/fake-gitlab.ts';

const INSTANCE = 'gitlab.example.com';
export const MINUTE_MS = 60_000;
const SECRET = `whsec_${Buffer.from('the secret of this test, 32 bytes').toString('base64')}`;

/** Webhooks of groups through the HTTP handler, the inbox, the stream's reader and the sweep, over one table. */
export function webhookWorld() {
  const clock = manualClock();
  const table = new MemoryTable({ nowMs: () => clock.nowMs() });
  const keys = ledgerKeys(INSTANCE);
  const parts = { table, instance: INSTANCE, clock, random: () => 0 };
  const store = new DynamoStore(parts);
  const ledger = createLedger({ store, clock });
  const gitlab = new FakeGitLab();
  const lines: string[] = [];
  const note = (message: string, fields?: object): void =>
    void lines.push(JSON.stringify({ message, ...fields }));
  const log: Log = { info: note, warn: note, error: note };
  const rules = flowRules([{ on: { group: 100 }, money: 1_000, per: 'month' }]);
  let directory = rules.directory;
  const app = createSettleApp({
    inbox: store,
    secrets: async () => [SECRET],
    clock,
    random: () => 0,
    log,
  });
  const read = new Set<string>();
  const arrived = (): Item[] =>
    [...table.items()].filter((item) => {
      const name = `${item.pk?.S} ${item.sk?.S}`;
      const isNew = keys.isInboxPk(item.pk?.S ?? '') && !read.has(name);
      if (isNew) read.add(name);
      return isNew;
    });
  const settling = { ledger, currentRules: async () => rules, clock, log };
  const memory = newSweepMemory();
  let deliveries = 0;
  const committed = async (subject: string, limit = 'money-month', period = '2026-11'): Promise<number> =>
    (await ledger.readCounters([counter(subject, limit, period)]))[0]?.committed ?? 0;
  return {
    ...{ clock, ledger, gitlab, lines, table, keys },
    /** Holds an hour and a slot for each job of this top-level group. */
    hold: async (groupId: number, jobIds: readonly number[]): Promise<void> => {
      const facts = someFacts({ rootId: groupId, projectId: groupId * 10, timeoutSeconds: 7_200 });
      const claims = [
        claim(`group/${groupId}`, 3_600),
        claim(`group/${groupId}`, 1, undefined, {
          counter: counter(`group/${groupId}`, 'slots', 'now'),
          unit: 'jobs',
        }),
      ];
      const asks = jobIds.map((jobId) => anAsk(jobId, claims, { facts }));
      await ledger.hold(asks, clock.monotonicMs() + 30_000);
    },
    deliver: async (groupId: number, body: object): Promise<number> => {
      deliveries += 1;
      const [id, text, at] = [`delivery-${deliveries}`, JSON.stringify(body), new Date()];
      const response = await app.request(`${JOBS_PATH}/${groupId}`, {
        method: 'POST',
        body: text,
        headers: {
          'x-gitlab-event': 'Job Hook',
          'webhook-id': id,
          'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
          'webhook-signature': new Webhook(groupHookKey(SECRET, groupId)).sign(id, at, text),
        },
      });
      const Records = arrived().map((NewImage, index) => ({
        eventName: 'INSERT',
        dynamodb: { SequenceNumber: `${index}`, NewImage },
      }));
      await consume({ Records }, { ...settling, keys, directoryFor: async () => directory });
      return response.status;
    },
    sweep: (): Promise<SweepReport> =>
      sweep({
        gitlab,
        ledger,
        marks: dynamoSweepCheckpoints(parts),
        reported: dynamoReportedEnds(parts),
        chargeBypass: (gitlabJobs) => chargeBypass(gitlabJobs, settling),
        memory,
        clock,
        chargeUnknown: 'nothing',
      }),
    moveProject: (projectId: number, groupId: number): void => {
      directory = indexDirectory(
        [{ id: groupId, path: 'new-home', personal: false }],
        [{ id: projectId, groupId, path: 'new-home/project' }],
      );
    },
    spent: (groupId: number) => committed(`group/${groupId}`),
    slots: (groupId: number) => committed(`group/${groupId}`, 'slots', 'now'),
    state: async (jobId: number) => (await ledger.readRecord(jobId))?.state,
    counters: (): readonly string[] =>
      [...table.items()]
        .filter((item) => item.sk?.S === 'counter')
        .map((item) => item.pk?.S ?? '')
        .sort(),
    ran: (jobId: number, seconds: number, over: Partial<GitLabJob> = {}): GitLabJob => ({
      ...{ jobId, projectId: 10, status: 'success', runnerId: 7, durationSeconds: seconds },
      ...{ startedAtMs: clock.nowMs(), finishedAtMs: clock.nowMs() + seconds * 1000, ...over },
    }),
  };
}

/** As GitLab writes it. */
export const instant = (atMs: number): string => new Date(atMs).toISOString().replace(/\.\d+/, '');

/** A body that reports the end of a job; a group's owner can choose each field. */
export const aBody = (jobId: number, nowMs: number, over: object = {}): object => ({
  object_kind: 'build',
  build_id: jobId,
  project_id: 10,
  build_status: 'success',
  build_started_at: instant(nowMs - 1_000),
  build_finished_at: instant(nowMs),
  build_duration: 1,
  runner: { id: 7, tags: [] },
  ...over,
});
