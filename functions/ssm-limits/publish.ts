/** Makes what changed parameters say live: as one edit, or, where one of them is refused, without that one. */
import { problemText } from '../../policies/document/parsed.ts';
import type { Policy } from '../../policies/policy.ts';
import type { LedgerClock } from '../core/environment/index.ts';
import type { ApplyOutcome, LimitsDesk } from '../core/limits/index.ts';
import type { LimitsInForce } from '../core/rules/index.ts';
import { retried } from '../core/store/index.ts';
import { editsElsewhere, SOURCE } from './edits-elsewhere.ts';
import type { Marks, ParameterMark } from './marks.ts';
import { type ChangedParameter, type ParameterPlan, planEdits } from './plan-edits.ts';

interface PublishDeps {
  readonly desk: Pick<LimitsDesk, 'live' | 'apply' | 'history'>;
  readonly policy: Policy;
  /** In force until a first set is live. */
  readonly packed: LimitsInForce;
  readonly marks: Marks;
  readonly clock: Pick<LedgerClock, 'monotonicMs' | 'sleep'>;
  readonly random: () => number;
  /** On the clock's `monotonicMs`: from then on no edit is begun. */
  readonly endsAtMs: number;
}

/** Parameters of one edit: whoever wrote them is its actor. */
export interface Batch {
  readonly actor: string;
  readonly parameters: readonly ChangedParameter[];
}

interface Published {
  /** In force now. */
  readonly done: readonly ParameterPlan[];
  readonly refused: readonly { readonly parameter: ChangedParameter; readonly problems: readonly string[] }[];
  /** Not come to, for want of time or because others edited at the same time again and again. */
  readonly left: readonly ChangedParameter[];
}

/** Others' edits are rare, and imports take a second. */
const TRIES_MAX = 5;
const AGAIN_MS_MAX = 500;
const WHY_CHARACTERS_MAX = 500;
const ACTOR_CHARACTERS_MAX = 200;
const PROBLEMS_MAX = 5;

/** Idempotent. @throws {LimitsError} @throws {SsmLimitsError} the edit may be made or not: the next run finds out. */
export async function publish(batch: Batch, deps: PublishDeps): Promise<Published> {
  const done: ParameterPlan[] = [];
  const refused: Published['refused'][number][] = [];
  const left: ChangedParameter[] = [];
  // Each one that is refused costs as many edits as a batch can be halved.
  const waiting: (readonly ChangedParameter[])[] = [batch.parameters];
  for (let some = waiting.shift(); some !== undefined; some = waiting.shift()) {
    const tried = await tryAll(some, batch.actor, deps);
    if (tried.outcome === 'done') done.push(...tried.plans);
    else if (tried.outcome === 'left') left.push(...some);
    else if (some.length > 1) {
      const half = Math.ceil(some.length / 2);
      waiting.unshift(some.slice(0, half), some.slice(half));
    } else for (const parameter of some) refused.push({ parameter, problems: tried.problems });
  }
  return { done, refused, left };
}

type Tried =
  | { readonly outcome: 'done'; readonly plans: readonly ParameterPlan[] }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] }
  /** Others edited in between, or there is no time. */
  | { readonly outcome: 'left' };

function tryAll(parameters: readonly ChangedParameter[], actor: string, deps: PublishDeps): Promise<Tried> {
  const { clock, random, endsAtMs } = deps;
  const isTime = (): boolean => clock.monotonicMs() < endsAtMs;
  return retried(
    async (): Promise<Tried> => (isTime() ? tryOnce(parameters, actor, deps) : { outcome: 'left' }),
    ({ outcome }) => outcome === 'left',
    { clock, random, triesMax: TRIES_MAX, pauseMsMax: () => AGAIN_MS_MAX, isTimeFor: isTime },
  );
}

async function tryOnce(
  parameters: readonly ChangedParameter[],
  actor: string,
  { desk, policy, packed, marks }: PublishDeps,
): Promise<Tried> {
  const live = await desk.live();
  const changedElsewhere = await editsElsewhere(desk, oldestOf(parameters));
  const plans: ParameterPlan[] = [];
  for (const parameter of parameters)
    plans.push(await planEdits(parameter, { changedElsewhere, policy, live: live ?? packed }));
  const edits = plans.flatMap((plan) => plan.edits);
  if (edits.length > 0) {
    await marks.write(plans.flatMap((plan) => (plan.edits.length > 0 ? markBefore(plan) : [])));
    const outcome = await desk.apply(edits, {
      actor: actor.slice(0, ACTOR_CHARACTERS_MAX),
      // Who may write the parameter is for IAM to say; what a rule forbids stays forbidden.
      rights: [{ role: 'finance' }],
      why: whyOf(parameters),
      source: SOURCE,
      base: live?.pointer.set,
      // Every run would file it again.
      filing: 'never',
      confirmed: parameters.every(({ version }) => version?.wanted.confirmed ?? true),
    });
    if (outcome.outcome === 'stale') return { outcome: 'left' };
    const problems = problemsOf(outcome);
    if (problems !== undefined) return { outcome: 'refused', problems };
  }
  await remember(plans, marks);
  return { outcome: 'done', plans };
}

/** Nothing is asked about parameters that are gone. */
const oldestOf = (parameters: readonly ChangedParameter[]): number =>
  parameters.reduce(
    (oldest, { version }) => Math.min(oldest, version?.modifiedAtMs ?? oldest),
    Number.POSITIVE_INFINITY,
  );

/** The version before stays the one in force until the edit is made. */
const markBefore = ({ parameter, before }: ParameterPlan): ParameterMark => ({
  group: parameter.group,
  version: parameter.mark?.version ?? 0,
  modifiedAtMs: parameter.mark?.modifiedAtMs ?? 0,
  owned: before,
});

async function remember(plans: readonly ParameterPlan[], marks: Marks): Promise<void> {
  await marks.write(
    plans.flatMap(({ parameter: { group, version }, after }) =>
      version === undefined
        ? []
        : { group, version: version.version, modifiedAtMs: version.modifiedAtMs, owned: after },
    ),
  );
  await marks.forget(
    plans.flatMap(({ parameter }) => (parameter.version === undefined ? parameter.group : [])),
  );
}

/** `SSM parameter /tollgate/prod/limits/101 version 7` */
function whyOf(parameters: readonly ChangedParameter[]): string {
  const each = parameters.map(({ name, version }) =>
    version === undefined ? `${name} deleted` : `${name} version ${version.version}`,
  );
  const text =
    each.length === 1 ? `SSM parameter ${each[0]}` : `${each.length} SSM parameters: ${each.join(', ')}`;
  return text.length > WHY_CHARACTERS_MAX ? `${text.slice(0, WHY_CHARACTERS_MAX - 1)}…` : text;
}

/** Why an edit was not made; undefined: it was. */
function problemsOf(outcome: Exclude<ApplyOutcome, { outcome: 'stale' }>): readonly string[] | undefined {
  switch (outcome.outcome) {
    case 'live':
    case 'unchanged':
      return undefined;
    case 'invalid':
      return outcome.problems.slice(0, PROBLEMS_MAX).map(problemText);
    case 'forbidden':
      return outcome.denied.slice(0, PROBLEMS_MAX).map(({ row, needs }) => {
        return `${row.subject} ${row.limit} ${row.field}: only ${needs.join(' or ')} may do this; Parameter Store edits as finance`;
      });
    case 'needs_confirmation': {
      const rows = outcome.rows
        .slice(0, PROBLEMS_MAX)
        .map((row) => `${row.subject} ${row.limit}: ${row.from} becomes ${row.to} ${row.unit ?? ''}`.trim());
      const said = [...rows, ...outcome.lockout.slice(0, PROBLEMS_MAX)];
      return [`needs to be confirmed: write confirm: true into the value (${said.join('; ')})`];
    }
    case 'needs_approval':
      return [
        'lets jobs go more than half as far again, so somebody else must approve it: make this change in the console or with tollgate budget, where a request is filed',
      ];
  }
}
