/** A limits document ↔ the chunks it is stored in: one per root group that has limits, and a shared one. */
import { createHash } from 'node:crypto';
import type { Directory } from '../../../policies/directory.ts';
import { parseLimitsPart } from '../../../policies/document/parse-limits.ts';
import { isRecord, problemText } from '../../../policies/document/reading.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Policy } from '../../../policies/policy.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type LimitChunk, LimitsError, packText, unpackJson } from './limit-table.ts';

export type LimitsDocument = Readonly<Record<string, unknown>>;

export interface LimitChange {
  readonly actor: string;
  readonly userId?: number;
  readonly why: string;
  readonly source: string;
  readonly atMs: number;
  readonly base?: string;
  readonly request?: string;
}

/** The shared chunk: entries without a known root, and the index of the others. */
export interface SharedChunk {
  readonly change: LimitChange;
  readonly roots: ReadonlySet<number>;
  /** Chunk of each group or project: limits move with their group. */
  readonly homes: Readonly<Record<string, number>>;
  readonly document: LimitsDocument;
}

export const SHARED = 'shared';
export const chunkOfRoot = (root: number): string => `root/${root}`;
const SET_CHARACTERS = 24;
const PLACED = ['limits', 'grants', 'freezes', 'breakglass', 'rollout'] as const;

/** The chunks of a valid document, named by their content: the same change makes the same set. */
export function splitLimits(
  document: LimitsDocument,
  change: LimitChange,
  directory: Directory | undefined,
): { readonly set: string; readonly chunks: readonly LimitChunk[] } {
  const shared: Record<string, unknown[]> = {};
  const byRoot = new Map<number, Record<string, unknown[]>>();
  const homes: Record<string, number> = {};
  for (const list of PLACED)
    for (const entry of listOf(document[list])) {
      const on = isRecord(entry) ? (list === 'rollout' ? entry : entry.on) : undefined;
      const home = homeOf(on, directory);
      if (home !== undefined && home.subject !== `group/${home.root}`) homes[home.subject] = home.root;
      const chunk = home === undefined ? shared : (byRoot.get(home.root) ?? {});
      if (home !== undefined) byRoot.set(home.root, chunk);
      chunk[list] ??= [];
      chunk[list].push(entry);
    }
  const { fiscal_start, thresholds } = document;
  const fiscal = withoutAbsent({ fiscal_start, thresholds });
  const others = Object.entries(document).filter(([key]) => !PLACED.some((list) => list === key));
  const own = { ...Object.fromEntries(others), ...shared };
  const roots = [...byRoot.keys()].sort((a, b) => a - b);
  const bodies: [string, unknown][] = [
    [SHARED, { change, roots, homes, document: own }],
    ...roots.map((root): [string, unknown] => [chunkOfRoot(root), { ...fiscal, ...byRoot.get(root) }]),
  ];
  const hash = createHash('sha256');
  const chunks = bodies.map(([name, body]) => {
    const text = JSON.stringify(body);
    hash.update(`${name}\n${text}\n`);
    return { name, bytes: packText(text) };
  });
  return { set: hash.digest('hex').slice(0, SET_CHARACTERS), chunks };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function homeOf(
  on: unknown,
  directory: Directory | undefined,
): { readonly subject: string; readonly root: number } | undefined {
  const { group, project } = isRecord(on) ? on : {};
  const id =
    typeof group === 'number'
      ? group
      : typeof project === 'number'
        ? directory?.projectById.get(project)?.groupId
        : undefined;
  const root = id === undefined ? undefined : directory?.chainById.get(id)?.[0]?.id;
  if (root === undefined) return undefined;
  return { subject: typeof group === 'number' ? `group/${group}` : `project/${project}`, root };
}

export function joinLimits(shared: SharedChunk, ofRoots: readonly LimitsDocument[]): LimitsDocument {
  const document: Record<string, unknown> = { ...shared.document };
  for (const list of PLACED) {
    const entries = [shared.document, ...ofRoots].flatMap((part) => listOf(part[list]));
    if (entries.length > 0) document[list] = entries;
  }
  return document;
}

export function unpackedLimits(name: string, bytes: Uint8Array | undefined): LimitsDocument {
  if (bytes === undefined) throw unreadable(name, 'is not there');
  const body = unpackJson(bytes, `chunk ${name} of the limits`);
  if (!isRecord(body)) throw unreadable(name, 'is not a document');
  return body;
}

export function unpackedShared(bytes: Uint8Array | undefined): SharedChunk {
  const { change, roots, homes, document } = unpackedLimits(SHARED, bytes);
  if (!isRecord(change) || !Array.isArray(roots) || !isRecord(homes) || !isRecord(document))
    throw unreadable(SHARED, 'lacks a part');
  // Only `splitLimits` writes it.
  return { change, roots: new Set(roots), homes, document } as unknown as SharedChunk;
}

const unreadable = (name: string, why: string): LimitsError =>
  new LimitsError('limits_unreadable', `chunk ${name} of the limits ${why}: publish the limits again`);

/** @throws {LimitsError} `limits_unreadable`: the policy has changed since. */
export function parsedLimits(document: LimitsDocument, set: string, policy: Policy, chunk = ''): LimitSet {
  const parsed = parseLimitsPart(document, set, policy);
  if (parsed.ok) return parsed.value;
  const problems = parsed.problems.map(problemText).join('; ');
  throw new LimitsError('limits_unreadable', `set ${set}${chunk}: no longer fits the policy: ${problems}`);
}
