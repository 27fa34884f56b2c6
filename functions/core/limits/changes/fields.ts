/** Lists the fields of limits, grants, freezes and break-glasses, with the names of limits.yaml. */

import type { BreakGlass } from '../../../../policies/limits/break-glass.ts';
import { capOf, capWords } from '../../../../policies/limits/cap.ts';
import { type Freeze, type Grant, type Limit, SHARE_PARTS } from '../../../../policies/limits/limit.ts';
import type { Directory } from '../../../../policies/place/directory.ts';
import type { Fields, FieldValue } from './change-row.ts';

export const limitFields = (limit: Limit): Fields =>
  fields({
    amount: limit.amount,
    soft: writtenSoft(limit),
    grace:
      shareText(limit.graceShare) ??
      (limit.graceAmount === undefined || limit.amount === 'unlimited'
        ? undefined
        : limit.graceAmount - limit.amount),
    carry: writtenCarry(limit),
    overdraft: limit.overdraft,
    mode: limit.mode,
    when_unreachable: limit.whenUnreachable,
    wait: writtenWait(limit),
    cohort: limit.cohort,
    borrow: writtenBorrow(limit),
    lend: writtenLend(limit),
    per: limit.per,
    zone: limit.zone === 'UTC' ? undefined : limit.zone,
    fiscal_start: limit.fiscalStart,
    from: instantText(limit.fromMs),
    until: instantText(limit.untilMs),
    thresholds: thresholdsOf(limit),
    owner: limit.owner,
    contact: limit.contact,
    cost_center: limit.costCenter,
    reason: limit.reason,
  });

const thresholdsOf = (limit: Limit): string | undefined => {
  const written = writtenThresholds(limit);
  return written && `[${written.join(', ')}]`;
};

/** As they were written: `[80, 100, 'forecast 100']`. */
export const writtenThresholds = ({
  thresholds,
  forecastThresholds = [],
}: Limit): readonly (number | string)[] | undefined =>
  thresholds && [...thresholds, ...forecastThresholds.map((percent) => `forecast ${percent}`)];

/** As it was written: a share as `80%`, or whole units. */
export const writtenSoft = ({ softShare, softAmount }: Limit): string | number | undefined =>
  shareText(softShare) ?? softAmount;

export const writtenCarry = ({ carryShare, carryMax }: Limit): string | number | undefined =>
  shareText(carryShare) ?? carryMax;

export const writtenWait = ({ waitMs }: Limit): string | undefined =>
  waitMs === undefined ? undefined : `${waitMs / 1_000}s`;

export const writtenBorrow = ({ borrowShare, borrow }: Limit): string | number | undefined =>
  shareText(borrowShare) ?? borrow;

export const writtenLend = ({ lendShare, lend }: Limit): string | number | undefined =>
  shareText(lendShare) ?? lend;

export const grantFields = (grant: Grant): Fields =>
  fields({
    amount: grant.amount,
    from: instantText(grant.fromMs),
    until: instantText(grant.untilMs),
    reason: grant.reason,
    ticket: grant.ticket,
    by: grant.by,
    requested_by: grant.requestedBy,
    approved_by: grant.approvedBy,
    by_user: grant.byUser,
    requested_by_user: grant.requestedByUser,
    approved_by_user: grant.approvedByUser,
  });

export const freezeFields = (freeze: Freeze): Fields =>
  fields({
    from: instantText(freeze.fromMs),
    // A freeze without an end differs from no freeze.
    until: instantText(freeze.untilMs) ?? 'lifted',
    // The edges are instants now; show them in the zone.
    zone: freeze.zone === 'UTC' ? undefined : freeze.zone,
    reason: freeze.reason,
    owner: freeze.owner,
    by: freeze.by,
    by_user: freeze.byUser,
  });

export const breakGlassFields = (glass: BreakGlass): Fields =>
  fields({
    jobs: glass.jobs,
    per: glass.per,
    users: glass.users.size === 0 ? undefined : [...glass.users].join(', '),
    protected: glass.protected ? 'true' : undefined,
    from: instantText(glass.fromMs),
    until: instantText(glass.untilMs),
    zone: glass.zone,
    reason: glass.reason,
    ticket: glass.ticket,
    owner: glass.owner,
    by: glass.by,
    by_user: glass.byUser,
    reviewed: glass.reviewed && [glass.reviewed.by, glass.reviewed.note].filter(Boolean).join(': '),
    reviewed_by_user: glass.reviewed?.byUser,
  });

function fields(values: Readonly<Record<string, FieldValue | undefined>>): Fields {
  const there = new Map<string, number | string>();
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && value !== null) there.set(name, value);
  return there;
}

/** `80%`, `12.5%`. */
const shareText = (parts: number | undefined): string | undefined =>
  parts === undefined ? undefined : `${parts / (SHARE_PARTS / 100)}%`;

/** `2026-12-01T00:00:00Z`: what a person wrote as a day is an instant by now. */
const instantText = (atMs: number | undefined): string | undefined =>
  atMs === undefined ? undefined : new Date(atMs).toISOString().replace('.000Z', 'Z');

/** Shows `from` and `until` in their own zone; UTC is left out. */
export const edgeZone = (field: string, zone: string): { readonly zone?: string } =>
  (field === 'from' || field === 'until') && zone !== 'UTC' ? { zone } : {};

/** Returns the full path of a group or project, or the name of a class. Undefined if unknown. */
export function subjectPath(subject: string, directory: Directory | undefined): string | undefined {
  const cap = capOf(subject);
  if (cap !== undefined) return `${capWords(cap.kind)} of ${subjectPath(cap.place, directory) ?? cap.place}`;
  const slash = subject.indexOf('/');
  const [kind, name] = [subject.slice(0, slash), subject.slice(slash + 1)];
  switch (kind) {
    case 'group':
      return directory?.groupById.get(Number(name))?.path;
    case 'project':
      return directory?.projectById.get(Number(name))?.path;
    case 'runner-class':
    case 'groups':
      return name;
    default:
      return undefined;
  }
}
