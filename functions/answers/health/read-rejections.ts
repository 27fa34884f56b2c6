import type { LedgerClock } from '../../core/environment/index.ts';
import { DynamoLimitTable, readHistory } from '../../core/limits/index.ts';
import type { InstanceTable } from '../../core/store/index.ts';
import { DynamoRollupStore, type Usage } from '../../core/usage/index.ts';
import { dayText, readDays, today } from '../reading/usage-days.ts';
import type { DecisionCounts, RejectionsEvidence } from './evidence.ts';
import { dynamoHealthLook } from './kept-look.ts';

/** An edit and the one that mended it, and a few that have nothing to do with it. */
const EDITS_NAMED = 3;
const WEEK_DAYS = 7;

interface RejectionsReadDeps extends InstanceTable {
  readonly clock: LedgerClock;
  readonly random: () => number;
  /** IANA zone of the days of usage. */
  readonly zone: string;
}

/** Reads the decisions since the health check before, and the changes before them. @throws {LedgerError} */
export async function readRejections(deps: RejectionsReadDeps): Promise<RejectionsEvidence> {
  const to = today(deps.zone, deps.clock.nowMs());
  const [kept, days, { entries }] = await Promise.all([
    dynamoHealthLook(deps).read(),
    readDays(['instance'], { from: to - WEEK_DAYS, to }, new DynamoRollupStore(deps)),
    readHistory({ max: EDITS_NAMED }, new DynamoLimitTable(deps)),
  ]);
  const usages = days.get('instance') ?? [];
  const now = decisionsIn(usages.slice(WEEK_DAYS));
  const before = kept?.view.decisions;
  const isSameDay = before?.day === dayText(to);
  return {
    today: { day: dayText(to), ...now },
    recent: isSameDay
      ? { decided: now.decided - before.decided, rejected: now.rejected - before.rejected }
      : now,
    week: decisionsIn(usages.slice(0, WEEK_DAYS)),
    edits: entries.map(({ edit, atMs, actor }) => ({ edit, atMs, actor })),
    policyBefore: kept?.deployed.policyVersion,
  };
}

const decisionsIn = (usages: readonly Usage[]): DecisionCounts => ({
  decided: usages.reduce((sum, { admitted, rejected }) => sum + admitted + rejected, 0),
  rejected: usages.reduce((sum, { rejected }) => sum + rejected, 0),
});
