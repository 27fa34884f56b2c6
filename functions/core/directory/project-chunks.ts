/** Projects into their chunks, one chunk in memory at a time. */
import type { GitLabProject } from '../gitlab/index.ts';
import {
  type NamespaceRow,
  type ProjectChunk,
  type ProjectRow,
  projectChunk,
  projectChunkNumber,
  visibilityCode,
} from './chunks.ts';
import type { DirectoryDraft } from './draft.ts';
import { answeredShort } from './short-answer.ts';

/** Changed projects of a run: the one that was learned last of each id. */
export type ChangedProjects = Map<number, GitLabProject>;

/** Adds and replaces. How many chunks changed. */
export async function writeChanged(changed: ChangedProjects, draft: DirectoryDraft): Promise<number> {
  const byChunk = Map.groupBy(changed.values(), ({ id }) => projectChunk(id));
  let chunks = 0;
  for (const [name, projects] of byChunk) {
    const [before] = await draft.read<ProjectChunk>([name]);
    if (await draft.write(name, merged(before, projects))) chunks += 1;
  }
  return chunks;
}

interface ChunkListed {
  /** Projects that are not there any more. */
  readonly removed: number;
  /** Projects missing from a listing that is not believed. */
  readonly refused: number;
}

/** A chunk's projects are these and no others, unless too many are missing. */
export async function writeListed(
  name: string,
  projects: readonly GitLabProject[],
  draft: DirectoryDraft,
  force: boolean,
): Promise<ChunkListed> {
  const [before] = await draft.read<ProjectChunk>([name]);
  const ids = new Set(projects.map(({ id }) => id));
  const known = before?.projects.length ?? 0;
  const missing = before?.projects.filter(([id]) => !ids.has(id)).length ?? 0;
  if (!force && answeredShort(missing, known)) {
    await draft.write(name, merged(before, projects));
    return { removed: 0, refused: missing };
  }
  if (projects.length === 0) draft.remove(name);
  else await draft.write(name, merged(undefined, projects));
  return { removed: missing, refused: 0 };
}

function merged(before: ProjectChunk | undefined, projects: readonly GitLabProject[]): ProjectChunk {
  const rows = new Map<number, ProjectRow>((before?.projects ?? []).map((row) => [row[0], row]));
  const spaces = new Map<number, NamespaceRow>((before?.namespaces ?? []).map((row) => [row[0], row]));
  for (const { id, slug, visibility, namespace } of projects) {
    rows.set(id, [id, namespace.id, slug, visibilityCode(visibility)]);
    spaces.set(namespace.id, [namespace.id, namespace.path, namespace.personal ? 1 : 0]);
  }
  const inUse = new Set([...rows.values()].map(([, namespaceId]) => namespaceId));
  return {
    namespaces: [...spaces.values()].filter(([id]) => inUse.has(id)).sort((a, b) => a[0] - b[0]),
    projects: [...rows.values()].sort((a, b) => a[0] - b[0]),
  };
}

export const chunkNumberOfLast = (projects: readonly GitLabProject[]): number =>
  projectChunkNumber(projects.reduce((last, { id }) => Math.max(last, id), 0));
