import { limitName, limitNameFirst } from '../../../policies/units/unit-texts.ts';
import type { ChangeRow, Effect, FieldValue, LoggedChange } from '../../core/limits/index.ts';
import { BREAK_GLASS_PAGE, historyPagePath, subjectPagePath } from '../../core/notify/console-links.ts';
import { type Ownership, type Recipient, subjectLabel } from '../../core/notify/recipient.ts';
import type { Notice, NoticeKind } from './notice.ts';
import {
  type NoticeFormat,
  name,
  noticeAmount,
  noticeCount,
  noticeInstant,
  quotedWords,
  whenWritten,
  words,
} from './notice-format.ts';

/** The edit a change was part of. */
interface OfEdit {
  readonly edit: number;
  readonly logged: LoggedChange;
  readonly ownership: Ownership;
  readonly telling: NoticeFormat;
}

/** Fields told of one change; the history has them all. */
const FIELDS_MAX = 5;

/** @param rows - of one limit, grant, freeze, break-glass or rollout; at least one. */
export function oneChange(to: Recipient, rows: readonly ChangeRow[], of: OfEdit): Notice {
  const { edit, ownership } = of;
  const [first] = rows;
  const { about, subject, limit, id } = first ?? NO_ROW;
  const label = subjectLabel(subject, ownership.directory);
  const kind = kindOf(rows);
  const main = rows.find(({ field }) => field === 'amount' || field === 'until' || field === 'mode') ?? first;
  return {
    to,
    id: `edit:${edit}:${about}:${subject}:${limit}${id === undefined ? '' : `:${id}`}`,
    kind,
    subject,
    label,
    lines: [`${headOf(rows, label, of.telling)}.`, byLine(of)],
    page: about === 'breakglass' ? BREAK_GLASS_PAGE : subjectPagePath(subject),
    facts: {
      edit,
      about,
      limit,
      effect: effectOf(rows),
      ...(main !== undefined && { field: main.field, from: main.from, to: main.to }),
      ...(main?.unit !== undefined && { unit: main.unit }),
      ...factsOf(of),
    },
  };
}

/** So many changes of one owner in one edit that only their number is told. */
export function manyChanges(to: Recipient, changes: readonly (readonly ChangeRow[])[], of: OfEdit): Notice {
  const subjects = [...new Set(changes.flat().map(({ subject }) => subject))];
  const [subject = 'instance'] = subjects;
  const label = subjectLabel(subject, of.ownership.directory);
  const loosened = changes.filter((rows) => effectOf(rows) === 'loosens').length;
  const tightened = changes.filter((rows) => effectOf(rows) === 'tightens').length;
  const where = subjects.length === 1 ? label : `${label} and ${noticeCount(subjects.length - 1, 'other')}`;
  return {
    to,
    id: `edit:${of.edit}:many`,
    kind: loosened > 0 ? 'limit-loosened' : tightened > 0 ? 'limit-tightened' : 'limit-described',
    subject,
    label,
    lines: [
      `${noticeCount(changes.length, 'change')} of limits of ${where}: ${loosened} looser, ${tightened} tighter.`,
      byLine(of),
    ],
    page: subjects.length === 1 ? historyPagePath(subject) : '/history',
    facts: {
      edit: of.edit,
      changes: changes.length,
      subjects: subjects.length,
      loosened,
      tightened,
      ...factsOf(of),
    },
  };
}

const NO_ROW = { about: 'document', subject: 'instance', limit: '', id: undefined } as const;

const byLine = ({ logged: { actor, atMs, source, why }, telling }: OfEdit): string =>
  `By ${name(actor)} on ${noticeInstant(atMs, telling)} (${name(source)})${why.trim() === '' ? '' : `: ${quotedWords(why)}`}`;

const factsOf = ({ logged: { actor, atMs, source, why } }: OfEdit) => ({
  by: name(actor),
  at: new Date(atMs).toISOString(),
  source: name(source),
  why: words(why),
});

/** Whatever loosens anything loosens all of it: that is what one has to know. */
function effectOf(rows: readonly ChangeRow[]): Effect {
  if (rows.some(({ effect }) => effect === 'loosens')) return 'loosens';
  return rows.some(({ effect }) => effect === 'tightens') ? 'tightens' : 'neutral';
}

function kindOf(rows: readonly ChangeRow[]): NoticeKind {
  const whole = rows[0]?.whole;
  switch (rows[0]?.about) {
    case 'grant':
      return whole === 'added' ? 'grant-given' : 'grant-changed';
    case 'freeze':
      return whole === 'added' ? 'freeze-set' : whole === 'removed' ? 'freeze-lifted' : 'freeze-changed';
    case 'breakglass':
      return whole === 'added' ? 'break-glass-opened' : 'break-glass-changed';
    default: {
      const effect = effectOf(rows);
      if (effect === 'neutral') return 'limit-described';
      return effect === 'loosens' ? 'limit-loosened' : 'limit-tightened';
    }
  }
}

const WORD: Readonly<Record<Effect, string>> = {
  loosens: 'loosened',
  tightens: 'tightened',
  neutral: 'changed',
};

function headOf(rows: readonly ChangeRow[], label: string, telling: NoticeFormat): string {
  const [first] = rows;
  const value = (field: string, side: 'from' | 'to'): string | undefined => {
    const row = rows.find((each) => each.field === field);
    return row === undefined || row[side] === null ? undefined : valueText(row, row[side], telling);
  };
  const added = first?.whole === 'added';
  const gone = first?.whole === 'removed';
  const side = gone ? 'from' : 'to';
  const all = first?.whole === undefined ? `: ${fieldsText(rows, telling)}` : '';
  switch (first?.about) {
    case 'limit': {
      const what = `${limitFirst(first)} of ${label}`;
      if (added)
        return `${what} set: ${value('amount', 'to') ?? 'no amount'}${modeText(value('mode', 'to'))}`;
      if (gone) return `${what} removed; it was ${value('amount', 'from') ?? 'without an amount'}`;
      return `${what} ${WORD[effectOf(rows)]}${all}`;
    }
    case 'grant': {
      const what = `${value('amount', side) ?? 'An amount'} more for the ${limitName({ unit: first.unit ?? 'micros' })} of ${label}`;
      if (added)
        return `${what} granted, from ${value('from', 'to') ?? 'now'} to ${value('until', 'to') ?? 'further notice'}: ${quotedWords(value('reason', 'to') ?? '')}`;
      return gone ? `Grant revoked: ${what}` : `Grant for ${label} changed${all}`;
    }
    case 'freeze':
      if (added)
        return `Frozen: no job of ${label} starts until ${untilText(value('until', 'to'))}. ${quotedWords(value('reason', 'to') ?? '')}`;
      return gone ? `Freeze of ${label} lifted` : `Freeze of ${label} changed${all}`;
    case 'breakglass':
      if (added)
        return `Glass broken for ${label}: up to ${value('jobs', 'to') ?? '?'} jobs ${perText(value('per', 'to'))}pass its limits until ${value('until', 'to') ?? '?'}. ${quotedWords(value('reason', 'to') ?? '')}`;
      return gone ? `Break-glass of ${label} ended` : `Break-glass of ${label} changed${all}`;
    case 'rollout':
      if (first.limit === 'report') return `Shadow report of ${label}: ${fieldsText(rows, telling)}`;
      return `How far ${first.limit} rules go in ${label}: ${fieldsText(rows, telling)}`;
    default:
      return `Order of the limits by default changed`;
  }
}

const limitFirst = ({ unit, limit }: ChangeRow): string =>
  unit === undefined ? `Limit ${name(limit)}` : limitNameFirst({ unit });
const modeText = (mode: string | undefined): string =>
  mode === undefined || mode === 'enforce' ? '' : ` (${mode})`;
const untilText = (until: string | undefined): string =>
  until === undefined || until === 'lifted' ? 'somebody lifts it' : until;
const perText = (per: string | undefined): string =>
  per === undefined || per === 'once' ? '' : `per ${per} `;

function fieldsText(rows: readonly ChangeRow[], telling: NoticeFormat): string {
  const shown = rows.slice(0, FIELDS_MAX).map((row) => {
    const side = (value: FieldValue): string => (value === null ? 'none' : valueText(row, value, telling));
    return `${row.field} ${side(row.from)} → ${side(row.to)}`;
  });
  const more = rows.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

/** Numbers are whole units of the limit; a break-glass counts jobs. */
function valueText({ unit, field }: ChangeRow, value: number | string, telling: NoticeFormat): string {
  if (typeof value === 'number')
    return unit === undefined ? String(value) : noticeAmount(value, unit, telling);
  return field === 'from' || field === 'until' ? whenWritten(value, telling) : name(value);
}
