import { idOf } from '../../../functions/core/limits/csv/entry-cells.ts';
import { subjectOf } from '../../../functions/core/limits/desk/subject-text.ts';
import { readInstant } from '../../../policies/document/instant.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { type LimitSet, limitsOn } from '../../../policies/limits/limits.ts';
import { type Edge, edgeText } from '../../../policies/text/edge-text.ts';
import { type Command, EXIT } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { rollupZone } from '../rollup-zone.ts';
import { agreementLines, agreementsOf } from './agreements.ts';
import { BUDGET_DEPS, BUDGET_FLAGS, BUDGET_FLAGS_HELP, type BudgetDeps } from './budget-flags.ts';
import { forecasts } from './forecasts.ts';
import { groupsBelow, groupsBelowText } from './groups-below.ts';
import { type Budget, withBudget } from './open-budget.ts';
import { limitsInForce, standings, subjectLimits } from './standing.ts';
import { limitText, standingJson, standingsText } from './standing-text.ts';
import { knownSubject, SUBJECT_HELP, subjectLabel } from './subject-word.ts';
import { wideOrLong } from './wide-or-long.ts';

const HELP = `tollgate budget show <group> [flags]

One group: how its limits and those of the groups above it stand, what is said about each, and the grants, freezes and
break-glasses there are, with the ids by which they are taken back. Then what the groups right below it and its own projects
used this month (days begin in $TOLLGATE_ROLLUP_ZONE, else UTC): spent and held, which comes to what the group used.

${SUBJECT_HELP}
${BUDGET_FLAGS_HELP}

Exit codes: 0 told, 1 the table does not answer, 3 wrong usage`;

export const showCommandOn = (deps: BudgetDeps): Command => ({
  name: 'budget show',
  summary: 'One group: its limits, those above it, grants, freezes and break-glasses',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(args, BUDGET_FLAGS, { max: 1, what: 'one group' });
    const word = words[0] ?? 'instance';
    return withBudget(deps.open, values, io, async (budget) => {
      const { desk, directory, policy, packed } = budget;
      const nowMs = io.nowMs();
      const live = await desk.live();
      const subject = knownSubject(word, { directory, policy, limits: live?.limits ?? packed.limits });
      const limits = await limitsInForce(live?.limits ?? packed.limits, budget, nowMs);
      const levels = levelsAbove(subject, budget);
      const asked = subjectLimits(limits, directory, nowMs, (each) => levels.includes(each), true);
      const sorted = asked.toSorted((a, b) => levels.indexOf(a.subject) - levels.indexOf(b.subject));
      const found = await standings(sorted, budget, nowMs);
      const told = await forecasts(found, budget, io);
      const shown = found.map((each, index) => ({ ...each, forecast: told[index] }));
      const agreements = await agreementsOf(subject, found, budget, io);
      const below = await groupsBelow(subject, budget, io);
      const exceptions = exceptionsOf(live?.document ?? packed.document, limits, levels, nowMs);
      if (values.json) {
        const rows = shown.map(({ limit, ...each }, index) => ({
          ...standingJson({ ...each, limit }, directory),
          own: each.subject === subject,
          zone: limit.zone,
          softAmount: limit.softAmount ?? null,
          contact: limit.contact ?? null,
          costCenter: limit.costCenter ?? null,
          reason: limit.reason ?? null,
          agreement: agreements[index] ?? null,
        }));
        const set = live?.pointer.set ?? null;
        io.out(
          `${JSON.stringify({ subject, path: subjectLabel(subject, directory), set, currency: policy.currency, limits: rows, exceptions, below: below ?? null })}\n`,
        );
        return EXIT.ok;
      }
      const paint = paintWhen(io.colours);
      const label = subjectLabel(subject, directory);
      const id = label === subject ? '' : `  ${paint.dim(subject)}`;
      io.out(`${paint.strong(printable(label))}${id}\n`);
      if (shown.length === 0) io.out('No limit holds here.\n');
      else {
        io.out(
          standingsText(shown, directory, {
            currency: policy.currency,
            forecast: true,
            columns: io.columns,
            paint,
          }),
        );
        const notes = shown.flatMap((each) => {
          const { contact, costCenter, reason, id } = each.limit;
          const said = [
            costCenter && `cost center ${costCenter}`,
            contact && `ask ${contact}`,
            reason,
          ].filter(Boolean);
          const whose = `${subjectLabel(each.subject, directory)} ${id}: ${limitText(each, policy.currency)}`;
          return said.length === 0 ? [] : [`${printable(`${whose}, ${said.join(', ')}`)}\n`];
        });
        io.out(notes.join(''));
        io.out(agreementLines(agreements, policy.currency, rollupZone(io), paint));
      }
      if (below !== undefined) io.out(groupsBelowText(subject, below, budget, io.columns, paint));
      io.out(exceptionsText(exceptions, budget, io.columns, paint));
      return EXIT.ok;
    });
  },
});

export const showCommand: Command = showCommandOn(BUDGET_DEPS);

/** The subject first, then the groups above it, the instance last. */
function levelsAbove(subject: string, { directory }: Pick<Budget, 'directory'>): readonly string[] {
  const [kind, id] = subject.split('/');
  const groupId = kind === 'project' ? directory.projectById.get(Number(id))?.groupId : Number(id);
  const chain =
    (kind === 'group' || kind === 'project') && groupId !== undefined
      ? (directory.chainById.get(groupId) ?? []).map((group) => `group/${group.id}`).toReversed()
      : [];
  return [...new Set([subject, ...chain, 'instance'])];
}

/** Something beside the limits: by whom, until when and why. */
interface ExceptionShown {
  readonly kind: 'grant' | 'freeze' | 'breakglass';
  readonly id: string;
  readonly subject: string;
  /** `+200 on money-month`, `5 jobs per day`; nothing for a freeze. */
  readonly what: string;
  readonly from: string;
  readonly until: string;
  /** IANA zone in which `from` and `until` are meant. */
  readonly zone: string;
  readonly reason: string;
  readonly by: string;
}

/** Those that are not over yet. */
function exceptionsOf(
  document: Readonly<Record<string, unknown>>,
  limits: LimitSet,
  subjects: readonly string[],
  nowMs: number,
): readonly ExceptionShown[] {
  const lists = [
    ['grant', 'grants'],
    ['freeze', 'freezes'],
    ['breakglass', 'breakglass'],
  ] as const;
  return lists.flatMap(([kind, key]) => {
    const list: unknown = document[key];
    if (!Array.isArray(list)) return [];
    return list.flatMap((entry: unknown, index): readonly ExceptionShown[] => {
      const subject = isRecord(entry) ? subjectOf(entry.on) : undefined;
      if (!isRecord(entry) || subject === undefined || !subjects.includes(subject)) return [];
      const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
      const until = text(entry.until);
      const zone = zoneOfException(kind, entry, limitsOn(limits, subject));
      if (until !== '' && (readInstant(until, 'end', zone) ?? 0) <= nowMs) return [];
      return [
        {
          kind,
          id: text(entry.id ?? `${kind}-${index + 1}`),
          subject,
          what: whatOf(kind, entry),
          from: text(entry.from),
          until,
          zone,
          reason: text(entry.reason),
          by: text(entry.approved_by ?? entry.by),
        },
      ];
    });
  });
}

/** A grant's days are its limit's; everything else names its zone itself. */
function zoneOfException(
  kind: ExceptionShown['kind'],
  entry: Readonly<Record<string, unknown>>,
  limits: readonly Limit[],
): string {
  if (kind === 'grant') return limits.find(({ id }) => id === (entry.limit ?? idOf(entry)))?.zone ?? 'UTC';
  return typeof entry.zone === 'string' ? entry.zone : 'UTC';
}

function edgeWords(written: string, which: Edge, zone: string): string {
  const atMs = readInstant(written, which, zone);
  return atMs === undefined ? written : edgeText(atMs, which, zone);
}

function whatOf(kind: ExceptionShown['kind'], entry: Readonly<Record<string, unknown>>): string {
  if (kind === 'grant')
    return `+${String(entry.amount).replace(/^\+/, '')} on ${String(entry.limit ?? idOf(entry))}`;
  return kind === 'freeze' ? '' : `${String(entry.jobs)} jobs, ${String(entry.per ?? 'once')}`;
}

function exceptionsText(
  all: readonly ExceptionShown[],
  { directory }: Pick<Budget, 'directory'>,
  columns: number,
  paint: Paint,
): string {
  if (all.length === 0) return '';
  const titles = ['', 'id', 'on', 'what', 'from', 'until', 'by', 'why'];
  const rows = all.map(({ kind, id, subject, what, from, until, zone, by, reason }) =>
    [
      kind,
      id,
      subjectLabel(subject, directory),
      what,
      edgeWords(from, 'start', zone),
      until === '' ? 'it is lifted' : edgeWords(until, 'end', zone),
      by,
      reason,
    ].map(printable),
  );
  return `\n${wideOrLong(titles, rows, columns, paint)}`;
}
