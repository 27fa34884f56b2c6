import {
  type Directory,
  type DirectoryGroup,
  type DirectoryProject,
  directoryOf,
  GROUP_LEVELS_MAX,
  pathKey,
} from '../directory.ts';
import { type DocumentProblem, type ParseResult, Reading } from './reading.ts';

/** More than any instance has; a bound for memory. */
const ENTRIES_MAX = 1_000_000;
const PATH = /^[\p{L}\p{N}_][\p{L}\p{N}_.+-]*(\/[\p{L}\p{N}_][\p{L}\p{N}_.+-]*)*$/u;
const PATH_CHARACTERS_MAX = 4_096;
const VISIBILITIES = ['private', 'internal', 'public'] as const;

/** Reads `{groups: [{id, parent, path, visibility, personal}], projects: [{id, group, path, visibility}]}`. */
export function parseDirectory(document: unknown): ParseResult<Directory, DocumentProblem> {
  const reading = Reading.of(document);
  if (!reading.object(['groups', 'projects'])) return { ok: false, problems: reading.problems };
  const groupsById = new Map<number, Reading>();
  const projectsById = new Map<number, Reading>();
  const paths = new Map<string, Reading>();
  const groups = readEach(reading.at('groups'), 'groups', groupsById, paths, readGroup);
  const projects = readEach(reading.at('projects'), 'projects', projectsById, paths, readProject);
  for (const group of groups) {
    if (group.parentId === undefined || groupsById.has(group.parentId)) continue;
    groupsById.get(group.id)?.at('parent').expected('the id of a group in this file');
  }
  for (const project of projects) {
    if (!groupsById.has(project.groupId)) {
      projectsById.get(project.id)?.at('group').expected('the id of a group in this file');
    }
  }
  const directory = directoryOf(groups, projects);
  for (const group of groups) {
    const parentsThere = group.parentId === undefined || groupsById.has(group.parentId);
    if (directory.chainById.has(group.id) || !parentsThere || reading.problems.length > 0) continue;
    groupsById
      .get(group.id)
      ?.at('parent')
      .expected(`parents without a ring, at most ${GROUP_LEVELS_MAX} levels`);
  }
  return reading.problems.length > 0
    ? { ok: false, problems: reading.problems }
    : { ok: true, value: directory };
}

function readEach<Entry extends { readonly id: number; readonly path: string }>(
  list: Reading,
  what: string,
  byId: Map<number, Reading>,
  byPath: Map<string, Reading>,
  read: (entry: Reading) => Entry | undefined,
): readonly Entry[] {
  return list.list(what, ENTRIES_MAX).flatMap((reading) => {
    const entry = read(reading);
    if (entry === undefined) return [];
    if (byId.has(entry.id)) reading.at('id').expected('an id that no other entry has');
    if (byPath.has(pathKey(entry.path))) reading.at('path').expected('a path that no other entry has');
    byId.set(entry.id, reading);
    byPath.set(pathKey(entry.path), reading);
    return [entry];
  });
}

function readGroup(reading: Reading): DirectoryGroup | undefined {
  if (!reading.object(['id', 'parent', 'path', 'visibility', 'personal'])) return undefined;
  const id = reading.at('id').integer("GitLab's id of the group", 1);
  const path = readPath(reading.at('path'));
  const parent = reading.at('parent');
  const parentId = parent.isThere ? parent.integer("GitLab's id of the parent group", 1) : undefined;
  const personal = reading.at('personal').isThere ? reading.at('personal').boolean() : false;
  const visibility = readVisibility(reading.at('visibility'));
  if (id === undefined || path === undefined) return undefined;
  return {
    id,
    path,
    personal: personal === true,
    ...(parentId !== undefined && { parentId }),
    ...(visibility !== undefined && { visibility }),
  };
}

function readProject(reading: Reading): DirectoryProject | undefined {
  if (!reading.object(['id', 'group', 'path', 'visibility'])) return undefined;
  const id = reading.at('id').integer("GitLab's id of the project", 1);
  const groupId = reading.at('group').integer("GitLab's id of the project's group", 1);
  const path = readPath(reading.at('path'));
  const visibility = readVisibility(reading.at('visibility'));
  if (id === undefined || groupId === undefined || path === undefined) return undefined;
  return { id, groupId, path, ...(visibility !== undefined && { visibility }) };
}

const readPath = (reading: Reading): string | undefined =>
  reading.text(
    'a full path such as acme/payments',
    (text) => text.length <= PATH_CHARACTERS_MAX && PATH.test(text),
  );

const readVisibility = (reading: Reading): string | undefined =>
  reading.isThere ? reading.oneOf('a visibility', VISIBILITIES) : undefined;
