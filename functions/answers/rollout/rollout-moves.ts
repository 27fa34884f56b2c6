/** Plans a move of rows: edits, steps, and rows that lack a requirement. Pure. */
import type { RolloutClass } from '../../../policies/limits/limits.ts';
import type { Mode } from '../../../policies/mode.ts';
import { compareModes } from '../../../policies/rollout.ts';
import { type RolloutChange, type RolloutStep, stepBack, stepOn } from '../../../policies/rollout-step.ts';
import type { LimitEdit } from '../../core/limits/edit-model.ts';
import type { RolloutClassRow, RolloutRow, RolloutStepRow } from './model.ts';

/** On: `next`, only where nothing is missing unless it is forced. Back: one step, or to a mode that goes less far. */
export type RolloutMove =
  | {
      readonly direction: 'next';
      readonly force: boolean;
      readonly only?: RolloutClass;
      /** Subjects removed from the rollout return only by name. */
      readonly all?: boolean;
    }
  | { readonly direction: 'back'; readonly to?: Mode; readonly only?: RolloutClass };

const NEED_WORDS: Readonly<
  Record<RolloutClassRow['needs'][number]['code'], (has: string, wants: number) => string>
> = {
  days: (has, wants) => `${has} of ${wants} days with jobs on this step`,
  report: (has, wants) =>
    has === 'none' ? 'the owner has no report yet' : `the owner has had the report ${has} of ${wants} days`,
  coverage: (has, wants) =>
    has === 'none'
      ? `no job has ended since the step began: of how many GitLab asked is not known, ${wants} % are needed`
      : `GitLab asked about ${has} % of the jobs, ${wants} % are needed`,
  'would-fail': (has, wants) => `up to ${has} % of the jobs violated a rule; at most ${wants} % may`,
  groups: (has) => `${has} top-level groups have no step of their own and would move with the instance`,
};

export const rolloutNeedText = ({ code, has, wants }: RolloutClassRow['needs'][number]): string =>
  NEED_WORDS[code](has === undefined ? 'none' : String(has), wants);

export function planMoves(rows: readonly RolloutRow[], move: RolloutMove) {
  const edits: LimitEdit[] = [];
  const moved: RolloutStepRow[] = [];
  const held: RolloutRow[] = [];
  const leaving = rows.flatMap((row) => classesLeaving(row, move));
  for (const row of rows) {
    const { subject, path } = row;
    const classes =
      subject === 'instance' ? row.classes.map((each) => withoutLeaving(each, leaving)) : row.classes;
    const steps = stepsOf(classes, move);
    if (steps.length === 0) {
      const hasNext = requestedClasses(classes, move).some(({ next }) => next !== undefined);
      if (move.direction === 'next' && hasNext) held.push(row);
      continue;
    }
    edits.push({
      kind: 'rollout',
      subject,
      ...Object.fromEntries(steps.map(({ of, change }) => [of.class, change.mode])),
      ...reportOf(steps),
    });
    moved.push(
      ...steps.map(({ of, change }) => ({
        ...{ subject, path, class: of.class, from: of.step, to: stepAfter(change) },
        unmet: move.direction === 'back' ? [] : of.needs.filter(({ met }) => !met).map(rolloutNeedText),
      })),
    );
  }
  return { edits, moved, held };
}

/** Classes in which a top-level group gets a step of its own, so that it does not follow the instance any more. */
const classesLeaving = (
  { subject, path, classes }: RolloutRow,
  move: RolloutMove,
): readonly RolloutClass[] =>
  !subject.startsWith('group/') || path.includes('/')
    ? []
    : stepsOf(classes, move).flatMap(({ of }) => (of.from === subject ? [] : [of.class]));

function withoutLeaving(row: RolloutClassRow, leaving: readonly RolloutClass[]): RolloutClassRow {
  const count = leaving.filter((each) => each === row.class).length;
  const needs = row.needs.map((need) => {
    if (need.code !== 'groups') return need;
    const has = Math.max(0, (need.has ?? 0) - count);
    return { ...need, has, met: has === 0 };
  });
  return { ...row, needs };
}

const requestedClasses = (
  classes: readonly RolloutClassRow[],
  move: RolloutMove,
): readonly RolloutClassRow[] => {
  const isAll = move.direction === 'next' && move.all === true;
  return classes.filter(
    (row) => (move.only === undefined || row.class === move.only) && !(isAll && row.step === 'off'),
  );
};

/** Both classes of a subject go together or not at all: who has to wait for one keeps the other. */
function stepsOf(classes: readonly RolloutClassRow[], move: RolloutMove) {
  const requested = requestedClasses(classes, move);
  if (move.direction === 'next') {
    const open = requested.filter(({ next }) => next !== undefined);
    if (!move.force && open.some(({ needs }) => needs.some(({ met }) => !met))) return [];
    return open.flatMap((of) => taken(of, stepOn(of)));
  }
  const { to } = move;
  return requested.flatMap((of) => {
    if (to === undefined) return taken(of, stepBack(of));
    if (compareModes(to, of.mode) >= 0) return [];
    const reportedMs = to === 'warn' ? (of.reportedMs ?? null) : null;
    return [{ of, change: { mode: to, reportedMs } }];
  });
}

const taken = (of: RolloutClassRow, change: RolloutChange | undefined) =>
  change === undefined ? [] : [{ of, change }];

/** One report covers both classes: it stays while one needs it. */
function reportOf(steps: ReturnType<typeof taken>): { readonly reportedMs: number | null } {
  const sent = steps.flatMap(({ change }) => change.reportedMs ?? []);
  return { reportedMs: sent.length === 0 ? null : Math.max(...sent) };
}

const stepAfter = ({ mode, reportedMs }: RolloutChange): RolloutStep =>
  mode === 'shadow' && reportedMs !== null ? 'reported' : mode;
