/** Shows what edits would do: the rows of the desk, and when each limit then runs out. */

import type { Limit } from '../../../policies/limits/limit.ts';
import { counterOf, type LimitSet, limitsOn } from '../../../policies/limits/limits.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { ChangeRow, LimitEdit, Preview } from '../../core/limits/index.ts';
import type { CurrentLimits } from '../reading/limits-now.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, type Places, type Scope, scopeOf, subjectLabelOf } from '../reading/scope.ts';
import { readDays, today } from '../reading/usage-days.ts';
import type { Viewer } from '../reading/viewer.ts';
import { historySpan } from '../standing/outlook.ts';
import { subjectRow } from '../standing/subject-rows.ts';
import type { EditEffect, PreviewAnswer } from './model.ts';

/** Each costs up to a year of days; an import shows its first. */
const EFFECTS_MAX = 20;
const FIELDS: ReadonlySet<string> = new Set(['amount', 'unit', 'per', 'zone', 'from', 'until']);

export const previewOf =
  (reading: ReadContext) =>
  async (edits: readonly LimitEdit[], base: string | undefined, viewer: Viewer): Promise<PreviewAnswer> => {
    const judged = await judgeEdits(edits, base, viewer, reading);
    if (judged.outcome !== 'valid') return judged;
    const { preview, now, places, scope } = judged;
    const { document: _document, theirs, limits: after, oversubscription, ...told } = preview;
    return {
      ...told,
      set: now.set,
      ...(theirs !== undefined && { theirs: theirs.filter(({ subject }) => scope.sees(subject)) }),
      oversubscription: oversubscription.filter(({ subject }) => scope.sees(subject)),
      effects: await effectsOf(preview.rows, now.limits, after, places, reading),
    };
  };

/** Edits that name nothing but what the viewer sees, and what they come to. */
interface JudgedEdits {
  readonly outcome: 'valid';
  readonly preview: Extract<Preview, { outcome: 'valid' }>;
  readonly now: CurrentLimits;
  readonly places: Places;
  readonly scope: Scope;
}

export async function judgeEdits(
  edits: readonly LimitEdit[],
  base: string | undefined,
  viewer: Viewer,
  reading: Pick<ReadContext, 'limits' | 'places' | 'desk'>,
): Promise<JudgedEdits | Exclude<PreviewAnswer, { outcome: 'valid' }>> {
  const [now, places = NOWHERE] = await Promise.all([reading.limits(), reading.places()]);
  const scope = scopeOf(viewer.roles, places.directory);
  const foreign = edits.flatMap(subjectsOfEdit).find((subject) => !scope.sees(subject));
  if (foreign !== undefined) return { outcome: 'unknown_subject', subject: foreign };
  const preview = await reading.desk.preview(edits, base);
  if (preview.outcome === 'invalid') return { ...preview, set: now.set };
  const hidden = preview.rows.find(({ subject }) => !scope.sees(subject));
  if (hidden !== undefined) return { outcome: 'unknown_subject', subject: hidden.id ?? hidden.subject };
  return { outcome: 'valid', preview, now, places, scope };
}

const subjectsOfEdit = (edit: LimitEdit): readonly string[] => ('subject' in edit ? [edit.subject] : []);

/** @throws {LedgerError} */
async function effectsOf(
  rows: readonly ChangeRow[],
  before: LimitSet,
  after: LimitSet,
  { directory }: Places,
  reading: ReadContext,
): Promise<readonly EditEffect[]> {
  const touched = rows.filter(
    ({ about, field, whole }) =>
      (about === 'limit' && (FIELDS.has(field) || whole !== undefined)) || about === 'grant',
  );
  const named = [
    ...new Map(touched.map(({ subject, limit }) => [`${subject}|${limit}`, { subject, limit }])).values(),
  ];
  const nowMs = reading.clock.nowMs();
  const todayNumber = today(reading.zone, nowMs);
  const pairs = named.slice(0, EFFECTS_MAX).map(({ subject, limit }) => {
    const was = limitsOn(before, subject).find(({ id }) => id === limit);
    const willBe = limitsOn(after, subject).find(({ id }) => id === limit);
    // Carried amounts are not part of the document.
    const opened =
      willBe !== undefined && was?.opening !== undefined ? { ...willBe, opening: was.opening } : willBe;
    return { subject, limit, was, willBe: opened };
  });
  const both = pairs.flatMap(({ was, willBe }) => [was, willBe].filter((each) => each !== undefined));
  const counters = await reading.counters.fresh(both.map((limit) => counterOf(limit, nowMs)));
  return Promise.all(pairs.map(effectOf));

  async function effectOf({ subject, limit, was, willBe }: (typeof pairs)[number]): Promise<EditEffect> {
    const usage = (await readDays([subject], historySpan(todayNumber), reading.usage)).get(subject) ?? [];
    const { policy } = reading;
    const row = (of: Limit | undefined, limits: LimitSet) =>
      of &&
      subjectRow({ limit: of, byDefault: false }, { limits, directory, policy, counters, usage, nowMs });
    const [rowBefore, rowAfter] = [row(was, before), row(willBe, after)];
    return {
      subject,
      path: subjectLabelOf(subject, directory),
      limit,
      ...withoutAbsent({ before: rowBefore, after: rowAfter }),
    };
  }
}
