/** One run: what changed in Parameter Store since the last one becomes live. What triggered it says only that it is time. */
import type { Directory } from '../../policies/place/directory.ts';
import type { Policy } from '../../policies/policy.ts';
import type { LedgerClock } from '../core/environment/index.ts';
import type { LimitsDesk } from '../core/limits/index.ts';
import type { LimitsInForce } from '../core/rules/index.ts';
import { createRetriedAsk, type RetriedAsk } from './asking.ts';
import { listParameters, type ParameterListing } from './list-parameters.ts';
import type { Marks, ParameterMark } from './marks.ts';
import { readParameterValue, type ValueContext } from './parameter-value.ts';
import type { Editor, Parameters, StoredParameter } from './parameters.ts';
import type { ChangedParameter, KeptLimit } from './plan-edits.ts';
import { type Batch, publish } from './publish.ts';

export interface SsmSyncDeps {
  /** Path of the parameters, no trailing slash: `/tollgate/prod/limits`. */
  readonly path: string;
  readonly parameters: Parameters;
  readonly marks: Marks;
  readonly desk: Pick<LimitsDesk, 'live' | 'apply' | 'history'>;
  /** In force until a first set is live: the first edit edits these. */
  readonly packed: LimitsInForce;
  readonly policy: Policy;
  /** The groups as they are now; undefined: not known. */
  readonly directory: () => Promise<Directory | undefined>;
  readonly clock: LedgerClock;
  readonly random: () => number;
}

export interface SsmSyncReport {
  /** `no_directory`: nobody knows whose ids these are, so nothing was changed. */
  readonly outcome: 'done' | 'no_directory';
  readonly listed: number;
  /** The listing came to its end: only then is it known what is gone. */
  readonly complete: boolean;
  /** Names of parameters that are in force since this run, those that are gone included. */
  readonly applied: readonly string[];
  /** Nothing of these took effect; what was valid before stays. */
  readonly refused: readonly RefusedParameter[];
  /** Limits that stay as others made them. */
  readonly kept: readonly (KeptLimit & { readonly name: string })[];
  /** Changed parameters for the next run. */
  readonly left: number;
}

interface RefusedParameter {
  readonly name: string;
  readonly version: number | undefined;
  readonly problems: readonly string[];
}

/** Listing and asking for editors; edits that were begun end after it. */
const RUN_MS = 200_000;
const LIST_MS = 140_000;
/** Each is asked for its editor: so many take a minute at our pace. */
const CHANGED_MAX = 1_000;

/** Idempotent. @throws {SsmLimitsError} @throws {LimitsError} what was done is remembered; run again. */
export async function syncLimits(deps: SsmSyncDeps): Promise<SsmSyncReport> {
  const { path, parameters, marks, desk, packed, policy, clock, random } = deps;
  const startedMs = clock.monotonicMs();
  const endsAtMs = startedMs + RUN_MS;
  const [known, before, directory, live] = await Promise.all([
    marks.readAll(),
    marks.readPass(),
    deps.directory(),
    desk.live(),
  ]);
  const listing = await listParameters(path, before, clock.nowMs(), {
    parameters,
    ask: createRetriedAsk({ clock, random, endsAtMs: startedMs + LIST_MS }),
  });
  if (directory === undefined) return nothing(listing);

  const read = readChanged(listing, known, path, { policy, directory, live: (live ?? packed).document });
  const refused: RefusedParameter[] = [...read.refused];
  const some = stretchOf(read.changed, random);
  const ask = createRetriedAsk({ clock, random, endsAtMs });
  const { batches, waiting } = await editorBatchesOf(some, { parameters, ask });
  const applied: string[] = [];
  const kept: (KeptLimit & { readonly name: string })[] = [];
  let left = read.changed.length - some.length + waiting;
  for (const batch of batches) {
    const published = await publish(batch, { desk, packed, policy, marks, clock, random, endsAtMs });
    for (const { parameter, kept: limits } of published.done) {
      applied.push(parameter.name);
      kept.push(...limits.map((limit) => ({ name: parameter.name, ...limit })));
    }
    for (const { parameter, problems } of published.refused)
      refused.push({ name: parameter.name, version: parameter.version?.version, problems });
    left += published.left.length;
  }
  // Last: nobody shall believe that a run that failed before this has seen everything.
  await marks.writePass(listing.pass);
  return { outcome: 'done', ...countsOf(listing), applied, refused, kept, left };
}

/** What is not in force yet, and what of that is invalid. */
function readChanged(
  { found, all, strangers }: ParameterListing,
  known: ReadonlyMap<number, ParameterMark>,
  path: string,
  context: ValueContext,
): { readonly changed: readonly ChangedParameter[]; readonly refused: readonly RefusedParameter[] } {
  const changed: ChangedParameter[] = [];
  const refused: RefusedParameter[] = strangers.map((name) => ({
    name,
    version: undefined,
    problems: [`ends with no group's id; expected a name such as ${path}/101`],
  }));
  for (const [group, parameter] of found) {
    const mark = known.get(group);
    if (isInForce(mark, parameter)) continue;
    const { name, version, modifiedAtMs } = parameter;
    const read = readParameterValue(group, parameter, context);
    if (read.ok) changed.push({ group, name, mark, version: { version, modifiedAtMs, wanted: read.wanted } });
    else refused.push({ name, version, problems: read.problems });
  }
  if (all === undefined) return { changed, refused };
  const gone = [...known].filter(([group]) => !all.has(group));
  return {
    changed: [...changed, ...gone.map(([group, mark]) => ({ group, name: `${path}/${group}`, mark }))],
    refused,
  };
}

/** From anywhere: those that are refused again and again must not keep others from their turn. */
function stretchOf(changed: readonly ChangedParameter[], random: () => number): readonly ChangedParameter[] {
  if (changed.length <= CHANGED_MAX) return changed;
  const from = Math.floor(random() * changed.length);
  return [...changed.slice(from), ...changed.slice(0, from)].slice(0, CHANGED_MAX);
}

const countsOf = ({ found, all }: ParameterListing) => ({ listed: found.size, complete: all !== undefined });

const nothing = (listing: ParameterListing): SsmSyncReport => ({
  outcome: 'no_directory',
  ...countsOf(listing),
  applied: [],
  refused: [],
  kept: [],
  left: listing.found.size,
});

const isInForce = (mark: ParameterMark | undefined, { version, modifiedAtMs }: StoredParameter): boolean =>
  mark !== undefined && mark.version === version && mark.modifiedAtMs === modifiedAtMs;

// Who wrote what changed: parameters of one editor become live as one edit.
/** Parameter Store forgets all of a parameter that is deleted; CloudTrail does not. */
const DELETED_BY = 'unknown: see DeleteParameter in CloudTrail';
const WRITTEN_BY = 'unknown: see PutParameter in CloudTrail';

/**
 * Batches by editor, and what must wait: it was deleted, or made again, after it was listed, or there was no time to ask.
 *
 * @throws {SsmLimitsError}
 */
async function editorBatchesOf(
  changed: readonly ChangedParameter[],
  { parameters, ask }: { readonly parameters: Parameters; readonly ask: RetriedAsk },
): Promise<{ readonly batches: readonly Batch[]; readonly waiting: number }> {
  const batches = new Map<string, { actor: string; parameters: ChangedParameter[] }>();
  let waiting = 0;
  for (const parameter of changed) {
    const version = parameter.version?.version;
    const editor = await ask(() => parameters.editorOf(parameter.name, version ?? 1));
    const actor = actorOf(editor, version === undefined);
    if (actor === undefined) {
      waiting += 1;
      continue;
    }
    // Whoever confirms one change has not confirmed another.
    const key = `${parameter.version?.wanted.confirmed ?? 'gone'} ${actor}`;
    const batch = batches.get(key) ?? { actor, parameters: [] };
    batches.set(key, batch);
    batch.parameters.push(parameter);
  }
  return { batches: [...batches.values()], waiting };
}

/** Undefined: not now. */
function actorOf(editor: Editor | undefined, isGone: boolean): string | undefined {
  // A listing alone takes nothing away: the history must be gone as well.
  if (isGone) return editor?.found === 'no_parameter' ? DELETED_BY : undefined;
  if (editor?.found === 'editor') return editor.arn;
  return editor?.found === 'nobody' ? WRITTEN_BY : undefined;
}
