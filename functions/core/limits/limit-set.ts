/** A limits document ↔ the chunks it is stored in: one per root group that has limits, and a shared one. */
import { createHash } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { isRecord } from '../../../policies/document/reading.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type LimitChunk, LimitsError } from './limit-table.ts';

export type LimitsDocument = Readonly<Record<string, unknown>>;

/** Author, reason and source of a change; stored with the set. */
export interface LimitChange {
  readonly actor: string;
  /** GitLab user id; absent if not signed in. */
  readonly userId?: number;
  readonly why: string;
  /** E.g. `file limits.yaml`, `page`, `ssm`. */
  readonly source: string;
  readonly atMs: number;
  /** The set it was an edit of; absent: the first. */
  readonly base?: string;
  /** The approved request, if there was one. */
  readonly request?: string;
}

/** The shared chunk: entries without a known root, and the index of the others. */
export interface SharedChunk {
  readonly change: LimitChange;
  /** Roots that have a chunk of their own. */
  readonly roots: readonly number[];
  /** Chunk of each group or project: limits move with their group. */
  readonly homes: Readonly<Record<string, number>>;
  readonly document: LimitsDocument;
}

export const SHARED = 'shared';

export const chunkOfRoot = (root: number): string => `root/${root}`;

/** 10 000 rows are some 100 KB at this level, in a few milliseconds; the best one takes seconds. */
const BROTLI_QUALITY = 5;
/** Far above any set; a bound for what a damaged chunk could unfold to. */
const CHUNK_CHARACTERS_MAX = 256 * 1024 * 1024;
const SET_CHARACTERS = 24;

/** The chunks of a valid document, named by their content: who writes the same change again writes the same set. */
export function splitLimits(
  document: LimitsDocument,
  change: LimitChange,
  directory: Directory | undefined,
): { readonly set: string; readonly chunks: readonly LimitChunk[] } {
  const shared: Mutable = {};
  const byRoot = new Map<number, Mutable>();
  const homes: Record<string, number> = {};
  const place = (list: string, entry: unknown): void => {
    const on = isRecord(entry)
      ? list === 'rollout'
        ? { group: entry.group, project: entry.project }
        : entry.on
      : undefined;
    const home = homeOf(on, directory);
    if (home !== undefined && home.subject !== `group/${home.root}`) homes[home.subject] = home.root;
    const chunk = home === undefined ? shared : (byRoot.get(home.root) ?? {});
    if (home !== undefined) byRoot.set(home.root, chunk);
    const entries = chunk[list] ?? [];
    entries.push(entry);
    chunk[list] = entries;
  };
  for (const list of PLACED) for (const entry of listOf(document[list])) place(list, entry);
  const fiscal = withoutAbsent({ fiscal_start: document.fiscal_start, thresholds: document.thresholds });
  const { personal_default, group_defaults } = document;
  const own = {
    ...fiscal,
    ...shared,
    ...withoutAbsent({ personal_default, group_defaults }),
  };
  const roots = [...byRoot.keys()].sort((a, b) => a - b);
  const bodies: [string, unknown][] = [
    [SHARED, { change, roots, homes, document: own } satisfies SharedChunk],
    ...roots.map((root): [string, unknown] => [chunkOfRoot(root), { ...fiscal, ...byRoot.get(root) }]),
  ];
  const hash = createHash('sha256');
  const chunks = bodies.map(([name, body]) => {
    const text = JSON.stringify(body);
    hash.update(`${name}\n${text}\n`);
    return { name, bytes: packed(text) };
  });
  return { set: hash.digest('hex').slice(0, SET_CHARACTERS), chunks };
}

type Mutable = Record<string, unknown[]>;

/** Lists whose entries have a subject. */
const PLACED = ['limits', 'grants', 'freezes', 'breakglass', 'rollout'] as const;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function homeOf(
  on: unknown,
  directory: Directory | undefined,
): { readonly subject: string; readonly root: number } | undefined {
  if (!isRecord(on)) return undefined;
  const ofGroup = (group: number): number | undefined => directory?.chainById.get(group)?.[0]?.id;
  if (typeof on.group === 'number') {
    const root = ofGroup(on.group);
    return root === undefined ? undefined : { subject: `group/${on.group}`, root };
  }
  if (typeof on.project !== 'number') return undefined;
  const groupId = directory?.projectById.get(on.project)?.groupId;
  const root = groupId === undefined ? undefined : ofGroup(groupId);
  return root === undefined ? undefined : { subject: `project/${on.project}`, root };
}

/** The document again; entries of one subject keep their order. */
export function joinLimits(shared: SharedChunk, ofRoots: readonly LimitsDocument[]): LimitsDocument {
  const document: Record<string, unknown> = { ...shared.document };
  for (const list of PLACED) {
    const entries = [shared.document, ...ofRoots].flatMap((part) => listOf(part[list]));
    if (entries.length > 0) document[list] = entries;
  }
  return document;
}

const packed = (text: string): Uint8Array =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });

/** @throws {LimitsError} `limits_unreadable` */
export function unpackedLimits(name: string, bytes: Uint8Array | undefined): LimitsDocument {
  if (bytes === undefined) throw unreadable(name, 'is not there');
  let body: unknown;
  try {
    body = JSON.parse(
      brotliDecompressSync(bytes, { maxOutputLength: CHUNK_CHARACTERS_MAX }).toString('utf8'),
    );
  } catch {
    throw unreadable(name, 'is damaged');
  }
  if (!isRecord(body)) throw unreadable(name, 'is no document');
  return body;
}

/** @throws {LimitsError} `limits_unreadable` */
export function unpackedShared(bytes: Uint8Array | undefined): SharedChunk {
  const { change, roots, homes, document } = unpackedLimits(SHARED, bytes);
  if (!isRecord(change) || !Array.isArray(roots) || !isRecord(homes) || !isRecord(document))
    throw unreadable(SHARED, 'lacks a part');
  // Only `splitLimits` writes it, and readers check its hash.
  return { change, roots, homes, document } as unknown as SharedChunk;
}

const unreadable = (name: string, why: string): LimitsError =>
  new LimitsError('limits_unreadable', `chunk ${name} of the limits ${why}: publish the limits again`);
